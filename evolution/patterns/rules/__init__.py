"""Pure rules of patterns."""
