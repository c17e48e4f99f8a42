"""The admin of agents: their page with its tabs, histories, all experience rows, documents, protection.

In: a signed-in person. Out: one service call for each save. Which tabs the page has: `config.agent_tabs`.
"""

from agents.admin.agent import AgentAdmin
from agents.admin.documents import DocumentAdmin
from agents.admin.experiences import ExperienceAdmin
from agents.admin.protection import ProtectedAccessAdmin, ProtectedPathAdmin

__all__ = ["AgentAdmin", "DocumentAdmin", "ExperienceAdmin", "ProtectedAccessAdmin", "ProtectedPathAdmin"]
