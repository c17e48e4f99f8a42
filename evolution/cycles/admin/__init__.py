"""The learning queue and quarantines for staff."""

from evolution.cycles.admin.learning import LearningItemAdmin
from evolution.cycles.admin.quarantine import QuarantineAdmin

__all__ = ["LearningItemAdmin", "QuarantineAdmin"]
