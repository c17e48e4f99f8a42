"""Pure rules of the knowledge loop."""
