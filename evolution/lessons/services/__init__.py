"""Writes of lessons. Lock order: agent, the company's numbers, lessons by id, index, receipts."""
