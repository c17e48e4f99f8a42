"""Shapes of the lessons API, one module a topic."""
