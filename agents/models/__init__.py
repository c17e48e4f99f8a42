"""Agent and its versions, documents and their versions, protection rules and their log."""

from agents.models.agent import Agent
from agents.models.document import Document, DocumentVersion
from agents.models.protection import ProtectedAccess, ProtectedPath
from agents.models.version import AgentVersion

__all__ = ["Agent", "AgentVersion", "Document", "DocumentVersion", "ProtectedAccess", "ProtectedPath"]
