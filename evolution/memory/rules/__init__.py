"""What a message says about learning: signs, intents, corrections, satisfaction. Pure, linear, bounded."""
