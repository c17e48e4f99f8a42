"""The 300-character Experience rows of an agent: ordered, switchable, never merged into the role text.

In: an agent id and what its rows should be. Out: rows in order, and the rules of their content and order.
Whoever writes here holds the lock of the agent row (the services of `agents` do).
"""
