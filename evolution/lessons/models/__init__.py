"""Lesson and what belongs to it, repositories that are read, recalls and checks."""

from evolution.lessons.models.lesson import PREFIX, Lesson, LessonCitation, LessonKey
from evolution.lessons.models.recall import ChangeCheck, LessonCheck, RecallLog, RecallOutcome
from evolution.lessons.models.repository import CapturedCommit, Repository

__all__ = [
    "PREFIX",
    "CapturedCommit",
    "ChangeCheck",
    "Lesson",
    "LessonCheck",
    "LessonCitation",
    "LessonKey",
    "RecallLog",
    "RecallOutcome",
    "Repository",
]
