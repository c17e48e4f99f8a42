"""The vocabulary of the knowledge loop."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class SourceType(models.TextChoices):
    """Where material to be learnt from comes from."""

    CODE_CHANGE = "code_change", _("code change")
    ERROR_FIX = "error_fix", _("error fix")
    WORKFLOW_RUN = "workflow_run", _("workflow run")
    USER_FEEDBACK = "user_feedback", _("feedback of a user")
    CONVERSATION = "conversation", _("conversation")
    REFERENCE_PROJECT = "reference_project", _("reference project")


class KnowledgeSource(models.TextChoices):
    """Where an item of knowledge comes from: a report, or one of the ways without one."""

    CODE_CHANGE = "code_change", _("code change")
    ERROR_FIX = "error_fix", _("error fix")
    WORKFLOW_RUN = "workflow_run", _("workflow run")
    USER_FEEDBACK = "user_feedback", _("feedback of a user")
    CONVERSATION = "conversation", _("conversation")
    REFERENCE_PROJECT = "reference_project", _("reference project")
    MANUAL = "manual", _("by hand")
    IMPORT = "import", _("import")
    OUTCOMES = "outcomes", _("outcomes of use")
    DECISION = "decision", _("decision")


class Priority(models.TextChoices):
    """P0 is processed on arrival."""

    P0 = "P0", _("P0: at once")
    P1 = "P1", _("P1: soon")
    P2 = "P2", _("P2: in turn")
    P3 = "P3", _("P3: when there is time")


class LearningStatus(models.TextChoices):
    PENDING = "pending", _("pending")
    PROCESSING = "processing", _("processing")
    DONE = "done", _("done")
    DEAD = "dead", _("given up")


class Category(models.TextChoices):
    """The words of `evolution.parameters.rules.specs.CATEGORIES`, with labels."""

    ARCHITECTURE = "architecture", _("architecture")
    DEBUGGING = "debugging", _("debugging")
    PATTERN = "pattern", _("pattern")
    WORKFLOW = "workflow", _("workflow")
    TOOLING = "tooling", _("tooling")
    ANTI_PATTERN = "anti-pattern", _("anti-pattern")
    REFERENCE_PROJECT = "reference-project", _("reference project")


class Status(models.TextChoices):
    DRAFT = "draft", _("draft")
    ACTIVE = "active", _("active")
    DEPRECATED = "deprecated", _("deprecated")
    ARCHIVED = "archived", _("archived")


class EventKind(models.TextChoices):
    """What changed a confidence."""

    CREATED = "created", _("taken in")
    VERIFIED = "verified", _("verified")
    REFERENCED = "referenced", _("referenced")
    APPLIED = "applied", _("applied")
    MISLEADING = "misleading", _("misleading")
    DECAY = "decay", _("unused")
    SET = "set", _("set by a person")


class Result(models.TextChoices):
    SUCCESS = "success", _("success")
    FAILURE = "failure", _("failure")
    PARTIAL = "partial", _("partial")
