"""Draft, edit, decide, apply, roll back, expire: compare-and-set, and a receipt where staff would ask who."""
