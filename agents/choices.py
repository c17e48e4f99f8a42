"""The vocabulary of agents and their documents."""

from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _

from agents.rules.paths import DocumentKind


class Language(models.TextChoices):
    """The language of an agent's prompt headings."""

    ZH = "zh", _("Chinese")
    EN = "en", _("English")


class Source(models.TextChoices):
    """Where a version came from."""

    ADMIN = "admin", _("admin")
    API = "api", _("API")
    PROPOSAL = "proposal", _("proposal")
    IMPORT = "import", _("import")
    RESTORE = "restore", _("restore")
    ROLLBACK = "rollback", _("rollback")


class ProtectionLevel(models.TextChoices):
    BLOCK = "block", _("block: only staff, by hand")
    OWNER_ONLY = "owner_only", _("owner only: the owner approves")
    CONFIRM = "confirm", _("confirm: an extra typed confirmation")


class Verdict(models.TextChoices):
    ALLOWED = "allowed", _("allowed")
    BLOCKED = "blocked", _("blocked")
    NEEDS_OWNER = "needs_owner", _("needs the owner")
    NEEDS_CONFIRMATION = "needs_confirmation", _("needs confirmation")


#: What people read for a kind.
KIND_LABELS: dict[str, Any] = {
    DocumentKind.PERSONA: _("persona"),
    DocumentKind.PRINCIPLES: _("principles"),
    DocumentKind.AGENT_JSON: _("parameters"),
    DocumentKind.SKILL: _("skill"),
    DocumentKind.MEMORY: _("memory"),
    DocumentKind.WORKFLOW: _("workflow"),
    DocumentKind.GUIDANCE: _("guidance"),
    DocumentKind.TOOL: _("tool"),
    DocumentKind.USER_PROFILE: _("user profile"),
    DocumentKind.USER_PRIVACY: _("user privacy"),
    DocumentKind.USER_MEMORY: _("user memory"),
    DocumentKind.USER_RELATIONSHIP: _("relationship with a user"),
    DocumentKind.OTHER: _("other"),
}
