"""Governed change: what was learnt is proposed, a person approves exactly that text, it is applied, receipted,
and can be rolled back.

In: drafts from runtimes (teachings, corrections, proposals) and staff. Out: proposals with risk, diff, conflicts;
decisions; applied changes through the services of `agents`; receipts; a git mirror.
"""
