"""Knowledge in the admin: its list and page with what people decide; injections, outcomes and the ledger.

In: a signed-in person. Out: one service call for each decision; GET never writes.
"""

from evolution.knowledge.admin.knowledge import KnowledgeAdmin
from evolution.knowledge.admin.use import ConfidenceEventAdmin, InjectionAdmin, OutcomeAdmin

__all__ = ["ConfidenceEventAdmin", "InjectionAdmin", "KnowledgeAdmin", "OutcomeAdmin"]
