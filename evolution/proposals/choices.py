"""The vocabulary of proposals."""

from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _


class Kind(models.TextChoices):
    LEARNING = "learning", _("learning")
    WORKFLOW_CHANGE = "workflow_change", _("workflow change")
    PARAMETER = "parameter", _("parameter")
    EXPERIENCE = "experience", _("experience")
    ROLE = "role", _("role definition")


class Trigger(models.TextChoices):
    SESSION_FINALIZE = "session_finalize", _("end of a session")
    EXPLICIT_TEACHING = "explicit_teaching", _("explicit teaching")
    ERROR_LEARNING = "error_learning", _("learning from an error")
    INTROSPECTION = "introspection", _("introspection")
    DEVIATION = "deviation", _("deviation at a gate")
    MEMORY_BRIDGE = "memory_bridge", _("recurring lesson")
    META_LEARNING = "meta_learning", _("meta-learning")
    MANUAL = "manual", _("by hand")


class Status(models.TextChoices):
    DRAFT = "draft", _("draft")
    PENDING = "pending", _("pending")
    APPROVED = "approved", _("approved")
    APPLIED = "applied", _("applied")
    ROLLED_BACK = "rolled_back", _("rolled back")
    REJECTED = "rejected", _("rejected")
    SKIPPED = "skipped", _("skipped")
    BLOCKED = "blocked", _("blocked")
    EXPIRED = "expired", _("expired")
    CONFLICT = "conflict", _("conflict")
    FAILED = "failed", _("failed")


class ItemStatus(models.TextChoices):
    PENDING = "pending", _("pending")
    APPROVED = "approved", _("approved")
    REJECTED = "rejected", _("rejected")
    SKIPPED = "skipped", _("skipped")
    BLOCKED = "blocked", _("blocked")
    APPLIED = "applied", _("applied")
    CONFLICT = "conflict", _("conflict")
    FAILED = "failed", _("failed")
    ROLLED_BACK = "rolled_back", _("rolled back")


class ItemType(models.TextChoices):
    USER_PREFERENCE = "user_preference", _("user preference")
    RELATIONSHIP_MEMORY = "relationship_memory", _("relationship memory")
    KNOWLEDGE = "knowledge", _("domain knowledge")
    SKILL_OPTIMIZATION = "skill_optimization", _("skill optimisation")
    WORKFLOW = "workflow", _("workflow")
    EXPERIENCE = "experience", _("experience")
    PARAMETER = "parameter", _("parameter")
    BEHAVIOR_RULE = "behavior_rule", _("behaviour rule")
    ROLE = "role", _("role definition")
    ERROR_CORRECTION = "error_correction", _("error correction")


class Operation(models.TextChoices):
    CREATE = "create", _("create")
    UPDATE = "update", _("update")
    DELETE = "delete", _("delete")
    RENAME = "rename", _("rename")
    ADD_EXPERIENCE = "add_experience", _("add experience")
    UPDATE_EXPERIENCE = "update_experience", _("change experience")
    DISABLE_EXPERIENCE = "disable_experience", _("switch experience off")
    DELETE_EXPERIENCE = "delete_experience", _("delete experience")
    SET_PARAMETER = "set_parameter", _("set parameter")


class Risk(models.TextChoices):
    LOW = "low", _("low")
    MEDIUM = "medium", _("medium")
    HIGH = "high", _("high")
    FORBIDDEN = "forbidden", _("forbidden")


class ConflictKind(models.TextChoices):
    DUPLICATE = "duplicate", _("already there")
    CONTRADICTION = "contradiction", _("says the opposite")


class ConflictChoice(models.TextChoices):
    KEEP_OLD = "keep_old", _("keep the old line")
    REPLACE = "replace", _("replace the old line")
    KEEP_BOTH = "keep_both", _("keep both")
    DROP = "drop", _("drop this item")


#: What the audit view calls a change, first by its type, then by what made it.
_LEARNING_BY_TYPE: dict[str, Any] = {
    ItemType.USER_PREFERENCE: _("preference learnt"),
    ItemType.BEHAVIOR_RULE: _("behaviour rule"),
    ItemType.ERROR_CORRECTION: _("error learnt from"),
}
_LEARNING_BY_TRIGGER: dict[str, Any] = {
    Trigger.ERROR_LEARNING: _("error learnt from"),
    Trigger.EXPLICIT_TEACHING: _("explicit teaching"),
}


def learning_label(item_type: str, trigger: str) -> Any:
    """偏好学习, 行为规则, 错误学习, 显式教学; else the item's type in words."""
    found = _LEARNING_BY_TYPE.get(item_type) or _LEARNING_BY_TRIGGER.get(trigger)
    return found or ItemType(item_type).label


#: What the flags of an item mean (evolution/proposals/rules/lures.py).
FLAG_LABELS: dict[str, Any] = {
    "override": _("tries to overrule other instructions"),
    "persona": _("gives the agent another self"),
    "tool_call": _("makes the agent call tools or run commands"),
    "exfiltration": _("sends data elsewhere"),
    "secrecy": _("keeps something from the user or the reviewer"),
    "no_questions": _("takes away questions or approvals"),
    "prompt_leak": _("asks for the hidden instructions"),
    "forged_turn": _("imitates a system message or another turn"),
    "hidden_characters": _("holds characters that show nothing"),
    "encoded": _("holds a long encoded text"),
    "unread": _("is too long to be searched in full"),
}
