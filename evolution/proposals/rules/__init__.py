"""Pure rules of governed change: states, risk, conflicts, placement, digests, labels."""
