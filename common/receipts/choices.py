"""The vocabulary of receipts."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class ReceiptType(models.TextChoices):
    CHANGE = "change", _("change")
    SELF_EVOLUTION = "self-evolution", _("self-evolution")
    ROLLBACK = "rollback", _("rollback")
    ARCHIVE = "archive", _("archive")
    CAPTURE = "capture", _("capture")
    RETENTION = "retention", _("retention")
    PROTECTION_CHANGE = "protection_change", _("protection change")
    VERIFICATION = "verification", _("verification")


class LineStatus(models.TextChoices):
    APPLIED = "applied", _("applied")
    USER_REJECTED = "user_rejected", _("rejected")
    SKIPPED = "skipped", _("skipped")
    BLOCKED = "blocked", _("blocked")
    CONFLICT = "conflict", _("conflict")
    FAILED = "failed", _("failed")
    ROLLED_BACK = "rolled_back", _("rolled back")
    ARCHIVED = "archived", _("archived")


class RiskLevel(models.TextChoices):
    NONE = "", _("none")
    LOW = "low", _("low")
    MEDIUM = "medium", _("medium")
    HIGH = "high", _("high")
    FORBIDDEN = "forbidden", _("forbidden")


#: Lines of these types speak of keys and people: shown only to those who may see such rows. Where the
#: receipt lies in the chain of `_global`, which all staff read, only to members of `_global`.
GUARDED_LINES = {"api_key": "companies.view_apikey", "person": "accounts.view_user"}
