"""The vocabulary of lessons with its labels; the words themselves are those of `rules.kinds`."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class LessonType(models.TextChoices):
    BUG_FIX = "bug-fix", _("bug fix")
    DESIGN_CORRECTION = "design-correction", _("design correction")
    REFACTOR = "refactor", _("refactoring")
    BOUNDARY_SIGNAL = "boundary-signal", _("boundary signal")


class Severity(models.TextChoices):
    LOW = "low", _("low")
    MEDIUM = "medium", _("medium")
    HIGH = "high", _("high")


class Category(models.TextChoices):
    RULE = "RULE-EXP", _("RULE-EXP: a rule")
    PRACTICE = "PRACT-EXP", _("PRACT-EXP: from practice")
    INCIDENT = "INCIDENT-EXP", _("INCIDENT-EXP: from an incident")
    CALIBRATION = "CALIB-EXP", _("CALIB-EXP: a calibration")


class Signal(models.TextChoices):
    SUCCESS = "unexpected-success", _("unexpected success")
    FAILURE = "unexpected-failure", _("unexpected failure")
    BREAKDOWN = "boundary-breakdown", _("boundary breakdown")


class Status(models.TextChoices):
    DRAFT = "draft", _("draft")
    ACTIVE = "active", _("active")
    SUPERSEDED = "superseded", _("superseded")
    ARCHIVED = "archived", _("archived")
    REJECTED = "rejected", _("rejected")


class Source(models.TextChoices):
    MANUAL = "manual", _("by hand")
    COMMIT = "commit", _("commit")
    CHURN = "churn", _("often changed file")
    RULE_FILE = "rule_file", _("rule file")
    LABEL = "label", _("label of a pull request")
    API = "api", _("API")
    IMPORT = "import", _("import")


class ArchiveReason(models.TextChoices):
    EXPIRED = "expired", _("expired")
    LEAST_RECALLED = "lru", _("least recently recalled")
    BY_HAND = "by_hand", _("by hand")
    IMPORTED = "import", _("archived when imported")


class Purpose(models.TextChoices):
    START_TASK = "start_task", _("start of a task")
    AGENT_UPDATE = "agent_update", _("change of an agent")
    ARCHITECTURE_GUARD = "architecture_guard", _("architecture audit")
    PR_REVIEW = "pr_review", _("review of a pull request")
    EXPLICIT = "explicit", _("asked for")


class Verdict(models.TextChoices):
    PASS = "pass", _("pass")
    ATTENTION = "attention", _("attention")


class KeyKind(models.TextChoices):
    TAG = "tag", _("tag")
    FILE = "file", _("file")
