"""The lessons API, one module a topic."""
