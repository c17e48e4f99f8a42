"""Pure rules of the parameters."""
