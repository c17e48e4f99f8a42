"""The queue, the items with their ledger, and what using them brought."""

from evolution.knowledge.models.knowledge import PREFIX, ConfidenceEvent, Knowledge
from evolution.knowledge.models.queue import QUEUE_PREFIX, LearningItem
from evolution.knowledge.models.use import CausalScore, Injection, Outcome

__all__ = [
    "PREFIX",
    "QUEUE_PREFIX",
    "CausalScore",
    "ConfidenceEvent",
    "Injection",
    "Knowledge",
    "LearningItem",
    "Outcome",
]
