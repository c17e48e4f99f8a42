"""Human-readable numbers (EXP-001, k-001, ...) per company and prefix, never reused.

In: a company and a prefix. Out: the next number, inside the caller's transaction.
"""
