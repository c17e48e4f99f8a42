"""Writes of the knowledge loop."""
