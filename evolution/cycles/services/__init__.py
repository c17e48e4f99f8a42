"""Writes of the learning cycle."""
