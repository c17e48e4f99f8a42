"""Reads of lessons, one module a topic."""
