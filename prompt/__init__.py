"""Renders the system prompt that a runtime uses; reads everything below, owns no table.

In: an agent, the caller's company and a request. Out: the text, its sections, warnings, an ETag.
"""
