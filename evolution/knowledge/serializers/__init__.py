"""Shapes of the knowledge loop in the API, one module a topic."""
