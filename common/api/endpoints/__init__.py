"""Endpoints of the ground floor's own rows: who am I, receipts."""
