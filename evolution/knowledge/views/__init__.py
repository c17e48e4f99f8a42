"""Endpoints of the knowledge loop, one module a topic."""
