"""Patterns: structures that are written again and again, and what to write instead of writing them anew.

In: differences of commits, files of a pattern library, what people write. Out: sightings, drafts of new patterns, the
few that fit a description, and text made from a template.
"""
