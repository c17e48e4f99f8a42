"""What all endpoints under /agents share."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from agents.choices import Source
from agents.models import Agent
from agents.rules.fields import MAX_MESSAGE, checked_remark
from agents.selectors import get_agent, get_agent_for_write
from agents.services.editing import Edit
from common.api.renderers import RawJSONRenderer, ResultJSONRenderer
from common.api.versions import expected_versions
from common.api.views import FieldbookView

WRITE = "agents:write"


class AgentsView(FieldbookView):
    """An endpoint under /agents: also speaks the result+json profile."""

    renderer_classes = [RawJSONRenderer, ResultJSONRenderer]

    def agent(self, pk: int) -> Agent:
        """The agent the caller may read."""
        return get_agent(self.caller.company, pk, self.caller.agent_id)

    def agent_for_write(self, pk: int) -> Agent:
        """The agent whose body the caller's company may change."""
        return get_agent_for_write(self.caller.company, pk, self.caller.agent_id)

    def edit(self, message: Any = None, *, names_version: bool = True) -> Edit:
        """This request as an edit: who, when, why, and which versions `If-Match` accepts.

        `names_version` False is for a write that makes a new row, or names its version in another way.
        """
        return Edit(
            actor=self.caller.actor,
            now=timezone.now(),
            source=Source.API,
            message=checked_remark("/message", message, MAX_MESSAGE),
            expected=expected_versions(self.request, required=names_version),
        )
