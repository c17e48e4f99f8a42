"""Lessons in the admin: recalls and checks; trying recall; figures."""

from evolution.lessons.admin.checks import ChangeCheckAdmin
from evolution.lessons.admin.recalls import RecallLogAdmin

__all__ = ["ChangeCheckAdmin", "RecallLogAdmin"]
