"""Cycles: what sets learning in motion. It sees every room of the evolution engine; none sees it.

In: the schedule, a command, a call, a report that cannot wait. Out: reports of the learning queue turned into drafts
of knowledge and patterns, each once.
"""
