"""Lessons in the admin: their list, page and desk of drafts; recalls and checks; trying recall; figures.

In: a signed-in person. Out: one service call for each decision; GET never writes.
"""

from evolution.lessons.admin.checks import ChangeCheckAdmin
from evolution.lessons.admin.lessons import LessonAdmin
from evolution.lessons.admin.recalls import RecallLogAdmin
from evolution.lessons.admin.repositories import RepositoryAdmin

__all__ = ["ChangeCheckAdmin", "LessonAdmin", "RecallLogAdmin", "RepositoryAdmin"]
