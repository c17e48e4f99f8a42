"""What all endpoints under /agents share."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agents.choices import Source
from agents.models import Agent
from agents.selectors import get_agent, get_agent_for_write
from agents.services.editing import Edit
from common.api.renderers import RawJSONRenderer, ResultJSONRenderer
from common.api.versions import expected_versions
from common.api.views import FieldbookView
from common.errors import invalid

WRITE = "agents:write"
MAX_MESSAGE = 500


class AgentsView(FieldbookView):
    """An endpoint under /agents: also speaks the result+json profile."""

    renderer_classes = [RawJSONRenderer, ResultJSONRenderer]

    def agent(self, pk: int) -> Agent:
        """The agent the caller may read."""
        return get_agent(self.caller.company, pk, self.caller.agent_id)

    def agent_for_write(self, pk: int) -> Agent:
        """The agent whose body the caller's company may change."""
        return get_agent_for_write(self.caller.company, pk, self.caller.agent_id)

    def edit(self, message: str = "") -> Edit:
        """This request as an edit: who, when, and which versions `If-Match` accepts."""
        return Edit(
            actor=self.caller.actor,
            now=timezone.now(),
            source=Source.API,
            message=message,
            expected=expected_versions(self.request),
        )


def checked_message(value: Any) -> str:
    """The optional message of a write: a text of at most 500 characters."""
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > MAX_MESSAGE:
        raise invalid(
            "/message", _("The message is a text of at most %(limit)d characters.") % {"limit": MAX_MESSAGE}
        )
    return value
