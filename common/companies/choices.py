"""What a key may do."""

from django.db import models
from django.utils.translation import gettext_lazy as _

SLUG_PATTERN = r"^(_global|[a-z0-9][a-z0-9-]{0,49})$"


class Scope(models.TextChoices):
    """Scopes of an API key; verbs beyond these need a staff session."""

    READ = "read", _("read: prompt, recall, every GET")
    REPORT = "report", _("report: sessions, runs, outcomes, drafts")
    AGENTS_WRITE = "agents:write", _("agents:write: change agents, experiences and documents")
    PROPOSALS_DECIDE = (
        "proposals:decide",
        _("proposals:decide: relay a user's decision on low-risk proposals"),
    )
