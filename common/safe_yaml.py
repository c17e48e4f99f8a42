"""YAML that comes from outside: read as plain data, or refused quickly with the line.

Only the shape of JSON comes out: dict with text keys, list, str, int, float, bool, None. Anchors, aliases,
tags and merge keys are refused, so a small file cannot grow and cannot name a Python class.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml
from django.utils.translation import gettext_lazy as _

from common.errors import ApplicationError
from common.file_reading import unreadable

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 32
#: How deep `YamlDocument.lines` looks; deeper places are named by their parent.
LINES_DEPTH = 3

Path = tuple[str | int, ...]

# The compiled parser reads 1 MiB in under a second, the pure one needs many; both give the same events.
_PARSER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_UNREADABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"-?[1-9][0-9]{0,17}|0")
_FLOAT = re.compile(r"-?[0-9]{1,15}\.[0-9]{1,17}")


@dataclass
class YamlDocument:
    """The value, and for each key or list position down to `LINES_DEPTH` the 1-based line where it stands."""

    value: Any = None
    lines: dict[Path, int] = field(default_factory=dict)


def load_yaml(text: str, *, max_bytes: int = MAX_BYTES, max_depth: int = MAX_DEPTH) -> Any:
    """The value of one YAML document.

    Plain scalars: `true`/`false`, `null`/`~`/nothing, decimal numbers; everything else stays text as
    written: `no`, `on`, `yes`, dates, `0008`, `1.10` (docs/rules.md: YAML scalars). Keys are always text.
    Errors: `VALIDATION_ERROR` as made by `common.file_reading.unreadable`, naming the line.
    """
    return load_yaml_document(text, max_bytes=max_bytes, max_depth=max_depth).value


def load_yaml_document(text: str, *, max_bytes: int = MAX_BYTES, max_depth: int = MAX_DEPTH) -> YamlDocument:
    """Like `load_yaml`, with the line of each key near the top."""
    _check_size(text, max_bytes)
    text = text.removeprefix("\ufeff")
    unreadable = _UNREADABLE.search(text)
    if unreadable:
        line = text.count("\n", 0, unreadable.start()) + 1
        raise _not_yaml(line, _("control character U+%04X") % ord(unreadable.group()))
    try:
        return _Builder(yaml.parse(text, Loader=_PARSER), max_depth).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        # The parser places a missing end after the last line.
        line = min(mark.line, text.count("\n")) + 1 if mark else 1
        raise _not_yaml(line, error.problem or error.context or "") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise _not_yaml(1, str(error)) from None


def _check_size(text: str, max_bytes: int) -> None:
    actual = len(text.encode("utf-8", "surrogatepass"))
    if actual > max_bytes:
        reason = _(
            "the YAML text is too large: limit %(limit)d bytes, actual %(actual)d, remove %(excess)d"
        ) % {"limit": max_bytes, "actual": actual, "excess": actual - max_bytes}
        raise unreadable(1, reason)


def _not_yaml(line: int, problem: Any) -> ApplicationError:
    return unreadable(line, _("not readable as YAML: %s") % problem)


def _refused(line: int, problem: Any) -> ApplicationError:
    """Readable, but not wanted; `extra["refused"]` tells a lenient reader to leave it at that."""
    return unreadable(line, _("not readable as YAML: %s") % problem, refused=True)


class _Builder:
    """Builds the value from parser events: what is refused is refused before anything is made of it."""

    def __init__(self, events: Iterator[Any], max_depth: int) -> None:
        self._events = events
        self._max_depth = max_depth
        self._lines: dict[Path, int] = {}

    def document(self) -> YamlDocument:
        value: Any = None
        seen = False
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                if seen:
                    raise _refused(_line(event), _("a second document"))
                seen = True
                value = self._node(next(self._events), ())
        return YamlDocument(value, self._lines)

    def _node(self, event: Any, path: Path) -> Any:
        line = _line(event)
        if isinstance(event, yaml.AliasEvent):
            raise _refused(line, _("an alias (*%s) is not allowed") % event.anchor)
        if event.anchor is not None:
            raise _refused(line, _("an anchor (&%s) is not allowed") % event.anchor)
        if event.tag is not None:
            raise _refused(line, _("a tag (%s) is not allowed") % event.tag)
        if isinstance(event, yaml.ScalarEvent):
            return _plain_value(event.value) if event.implicit[0] else event.value
        if len(path) >= self._max_depth:
            raise _refused(line, _("nested deeper than %d levels") % self._max_depth)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(path)
        return self._mapping(path)

    def _sequence(self, path: Path) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            here = (*path, len(items))
            self._remember(here, event)
            items.append(self._node(event, here))
        return items

    def _mapping(self, path: Path) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._key(event, path)
            if key in mapping:
                raise _not_yaml(_line(event), _("the key “%s” occurs twice") % key)
            here = (*path, key)
            self._remember(here, event)
            mapping[key] = self._node(next(self._events), here)
        return mapping

    def _key(self, event: Any, path: Path) -> str:
        line = _line(event)
        if not isinstance(event, yaml.ScalarEvent):
            self._node(event, (*path, "?"))  # an alias or anchor is named as such
            raise _refused(line, _("a list or mapping as key is not allowed"))
        if event.anchor is not None or event.tag is not None:
            self._node(event, path)
        if event.value == "<<" and event.implicit[0]:
            raise _refused(line, _("a merge key (<<) is not allowed"))
        return str(event.value)

    def _remember(self, path: Path, event: Any) -> None:
        if len(path) <= LINES_DEPTH:
            self._lines[path] = _line(event)


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


def _plain_value(text: str) -> Any:
    """The value of an unquoted scalar; a number is one only if printing it gives the same text back."""
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text) and repr(float(text)) == text:
        return float(text)
    return text
