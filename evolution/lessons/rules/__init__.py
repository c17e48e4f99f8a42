"""What counts as a mistake, how long its lesson lives, and when it is worth being told again. Pure."""
