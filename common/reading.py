"""Read the fields that callers send; every fault is told at once. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext_lazy as _

from common.errors import ApplicationError, Fault
from common.text import clean, forbidden_character, is_blank, length

_TRUE, _FALSE = ("true", "1", "on", "yes"), ("false", "0", "off", "no")
_WHOLE_RE = re.compile(r"-?[0-9]{1,18}")


class Reading:
    """The fields of one request. Absent, null and (in a query string) empty values have their defaults."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = {name: value for name, value in values.items() if value is not None}
        self.faults: list[Fault] = []

    def check(self) -> None:
        """Raises VALIDATION_ERROR when anything read so far had a fault."""
        if self.faults:
            raise ApplicationError("VALIDATION_ERROR", self.faults[0].detail, errors=tuple(self.faults))

    def fault(self, pointer: str, detail: Any) -> None:
        self.faults.append(Fault(pointer, "VALIDATION_ERROR", detail))

    def text(self, name: str, limit: int) -> str:
        """A text within its limit, cleaned; empty for a blank one."""
        return self._text(f"/{name}", self.values.get(name, ""), limit)

    def texts(self, name: str, most: int, limit: int, commas: str = "") -> list[str]:
        """The entries of a list that are not blank; a text is a list with `commas` between its entries."""
        value = self.values.get(name, [])
        if commas and isinstance(value, str):
            value = re.split(f"[{commas}]", value)
        if not self._is_list(f"/{name}", value):
            return []
        found = [self._text(f"/{name}/{index}", entry, limit) for index, entry in enumerate(value)]
        kept = [text for text in found if text]
        self.at_most(f"/{name}", kept, most)
        return kept

    def objects(self, name: str, most: int) -> list[Mapping[str, Any]]:
        """The entries of a list of objects."""
        value = self.values.get(name, [])
        if not self._is_list(f"/{name}", value):
            return []
        self.at_most(f"/{name}", value, most)
        for index, entry in enumerate(value):
            if not isinstance(entry, Mapping):
                self.fault(f"/{name}/{index}", _("This must be an object."))
        return [entry for entry in value if isinstance(entry, Mapping)]

    def at_most(self, pointer: str, entries: Sequence[Any], most: int) -> None:
        """A fault when there are more entries than that."""
        if len(entries) > most:
            told = {"limit": most, "actual": len(entries), "excess": len(entries) - most}
            detail = _("At most %(limit)d entries; there are %(actual)d: remove %(excess)d.")
            self.fault(pointer, detail % told)

    def word(self, name: str, known: Collection[str], default: str) -> str:
        """One of the known words."""
        value = self.values.get(name, "")
        if value == "":
            return default
        if value not in known:
            detail = _("Unknown value; there are: %(known)s.") % {"known": ", ".join(known)}
            self.fault(f"/{name}", detail)
            return default
        return str(value)

    def whole(self, name: str, least: int, most: int, default: Any = None) -> Any:
        """A whole number within its bounds, or such a text."""
        value = self.values.get(name, "")
        if value == "":
            return default
        number = int(value) if isinstance(value, str) and _WHOLE_RE.fullmatch(value) else value
        if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
            told = {"least": least, "most": most}
            self.fault(f"/{name}", _("This must be a whole number from %(least)d to %(most)d.") % told)
            return default
        return number

    def share(self, name: str, default: float) -> float:
        """A number from 0 to 1, or such a text."""
        value = self.values.get(name, "")
        if value == "":
            return default
        try:
            number = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not 0 <= number <= 1:
            self.fault(f"/{name}", _("This must be a number from 0 to 1."))
            return default
        return number

    def switch(self, name: str, default: bool = False) -> bool:
        """true or false, or such a word."""
        value = self.values.get(name, "")
        if isinstance(value, bool) or value == "":
            return default if value == "" else value
        word = value.strip().lower() if isinstance(value, str) else None
        if word not in (*_TRUE, *_FALSE):
            self.fault(f"/{name}", _("This must be true or false."))
        return word in _TRUE

    def _is_list(self, pointer: str, value: Any) -> bool:
        if isinstance(value, list | tuple):
            return True
        self.fault(pointer, _("This must be a list."))
        return False

    def _text(self, pointer: str, value: Any, limit: int) -> str:
        if not isinstance(value, str):
            self.fault(pointer, _("This must be a text."))
            return ""
        if forbidden_character(value):
            self.fault(pointer, _("The text contains a character that cannot be stored."))
            return ""
        if is_blank(value):
            return ""
        actual = length(value)
        if actual > limit:
            told = {"limit": limit, "actual": actual, "excess": actual - limit}
            detail = _("At most %(limit)d characters; this has %(actual)d: remove %(excess)d.")
            self.fault(pointer, detail % told)
            return ""
        return clean(value)
