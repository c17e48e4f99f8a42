"""Writes of patterns."""
