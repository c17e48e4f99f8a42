"""The vocabulary of agents and their documents."""

from django.db import models
from django.utils.translation import gettext_lazy as _


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
