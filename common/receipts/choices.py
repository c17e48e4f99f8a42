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

#: What a receipt says it was written for; an unknown one is shown as it is.
TRIGGERS = {
    "agent_created": _("agent created"),
    "agent_changed": _("agent changed"),
    "agent_restored": _("agent version restored"),
    "agent_deleted": _("agent deleted"),
    "document_changed": _("document changed"),
    "document_restored": _("document version restored"),
    "api_key_issued": _("API key issued"),
    "api_key_revoked": _("API key revoked"),
    "company_created": _("company created"),
    "company_changed": _("company changed"),
    "person_created": _("person created"),
    "person_changed": _("person changed"),
    "proposal_applied": _("proposal applied"),
    "proposal_rejected": _("proposal rejected"),
    "proposal_skipped": _("proposal skipped"),
    "proposal_blocked": _("proposal blocked"),
    "proposal_expired": _("proposal expired"),
    "proposal_conflict": _("proposal not applied: conflict"),
    "proposal_failed": _("proposal not applied: failure"),
    "proposal_rolled_back": _("proposal rolled back"),
    "items_blocked": _("items blocked when proposed"),
    "items_taken_out": _("items taken out before the decision"),
    "phrase_created": _("phrase created"),
    "phrase_changed": _("phrase changed"),
    "phrase_deleted": _("phrase deleted"),
    "lesson_confirmed": _("lesson confirmed"),
    "lesson_rejected": _("lesson rejected"),
    "lesson_changed": _("lesson changed"),
    "lesson_superseded": _("lesson superseded"),
    "lesson_archived": _("lesson archived"),
    "lesson_restored": _("lesson restored"),
    "lesson_promoted": _("lesson made an experience"),
    "lesson_deleted": _("lesson deleted"),
    "lessons_imported": _("lessons imported"),
    "commits_captured": _("commits read for lessons"),
    "lessons_expired": _("lessons out of date archived"),
    "quarantined": _("put into quarantine"),
    "quarantine_lifted": _("quarantine lifted"),
    "repository_added": _("repository added"),
    "repository_changed": _("repository changed"),
    "recalls_archived": _("old recalls archived"),
    "recalls_purged": _("archived recalls deleted"),
    "outcome_reported": _("outcome of use reported"),
    "injections_archived": _("old injections archived"),
    "knowledge_changed": _("knowledge changed"),
    "knowledge_activated": _("knowledge activated"),
    "knowledge_verified": _("knowledge verified"),
    "knowledge_referenced": _("knowledge used"),
    "knowledge_misled": _("knowledge reported as misleading"),
    "knowledge_deprecated": _("knowledge deprecated"),
    "knowledge_restored": _("knowledge restored"),
    "knowledge_archived": _("knowledge archived"),
    "knowledge_purged": _("archived knowledge deleted"),
    "knowledge_decayed": _("unused knowledge lost confidence"),
    "knowledge_settled": _("knowledge follows a changed threshold"),
    "knowledge_imported": _("knowledge imported"),
    "learning_item_processed": _("report learnt from"),
    "learning_items_replayed": _("reports started again"),
    "learning_items_purged": _("reports that were done deleted"),
    "pattern_added": _("pattern added"),
    "pattern_changed": _("pattern changed"),
    "pattern_verified": _("pattern verified"),
    "pattern_promoted": _("pattern promoted"),
    "pattern_deprecated": _("pattern deprecated"),
    "patterns_scanned": _("commit searched for patterns"),
    "patterns_imported": _("patterns imported"),
    "protection_rule_created": _("protection rule created"),
    "protection_rule_changed": _("protection rule changed"),
    "protection_rule_deleted": _("protection rule deleted"),
}

#: What a line speaks of.
LINE_TYPES = {
    "agent": _("agent"),
    "role": _("role definition"),
    "setting": _("setting"),
    "experience_added": _("experience added"),
    "experience_removed": _("experience removed"),
    "experience_changed": _("experience changed"),
    "experience_switched": _("experience switched"),
    "experience_moved": _("experience moved"),
    "document": _("document"),
    "api_key": _("API key"),
    "company": _("company"),
    "person": _("person"),
    "protected_path": _("protected path"),
    "lesson": _("lesson"),
    "repository": _("repository"),
    "knowledge_item": _("knowledge"),
    "learning_item": _("report to learn from"),
    "pattern": _("pattern"),
    "phrase": _("phrase"),
    "user_preference": _("user preference"),
    "relationship_memory": _("relationship memory"),
    "knowledge": _("domain knowledge"),
    "skill_optimization": _("skill optimisation"),
    "workflow": _("workflow"),
    "experience": _("experience"),
    "parameter": _("parameter"),
    "behavior_rule": _("behaviour rule"),
    "error_correction": _("error correction"),
}

#: Names of the counts in `Receipt.totals`.
TOTALS = {
    "total": _("total"),
    "applied": _("applied"),
    "rejected": _("rejected"),
    "skipped": _("skipped"),
    "blocked": _("blocked"),
    "failed": _("failed"),
    "conflict": _("conflict"),
    "rolled_back": _("rolled back"),
    "archived": _("archived"),
}

#: The door a change came through.
CHANNELS = {
    "admin": _("admin"),
    "api": _("API"),
    "command": _("command"),
    "task": _("scheduled job"),
}
