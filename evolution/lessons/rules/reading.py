"""Read what callers of recall and of the change check send; every fault is told at once. Pure."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _

from common.reading import Reading as PlainReading
from evolution.lessons.rules.kinds import lesson_number


class Reading(PlainReading):
    """The fields of one request, which may name lessons."""

    def code(self, name: str) -> int | None:
        """The number of a lesson that is named by its code."""
        value = self.values.get(name, "")
        return None if value == "" else self.code_at(f"/{name}", value)

    def code_at(self, pointer: str, value: Any) -> int | None:
        """The same for a value inside of another."""
        number = lesson_number(value) if isinstance(value, str) else None
        if not number:
            self.fault(pointer, _("This must be the code of a lesson, such as EXP-001."))
        return number or None
