"""What a document's text may be, and how a browser's line ends are turned back. Pure."""

from __future__ import annotations

import hashlib

from django.utils.translation import gettext_lazy as _

from agents.rules.fields import too_long
from common.errors import ApplicationError, invalid
from common.strict_json import loads
from common.text import forbidden_character

MAX_TEXT = 200_000
MAX_NOTE = 2000


def checked_text(path_key: str, text: object) -> str:
    """The text exactly as sent (line ends and the final newline too), if it may be stored under this path.

    Raises VALIDATION_ERROR for NUL and lone surrogates, for more than 200,000 code points, and for an
    `agent.json` that is not a JSON object.
    """
    if not isinstance(text, str):
        raise invalid("/text", _("This must be a text."))
    if forbidden_character(text):
        raise invalid("/text", _("The text contains a NUL character or a broken character; remove it."))
    if len(text) > MAX_TEXT:
        fault = too_long("/text", MAX_TEXT, len(text))
        raise ApplicationError("VALIDATION_ERROR", fault.detail, errors=[fault])
    if path_key == "agent.json" and not _is_json_object(text):
        raise invalid("/text", _("agent.json must be one JSON object: { … }."))
    return text


def _is_json_object(text: str) -> bool:
    try:
        return isinstance(loads(text.encode()), dict)
    except ApplicationError:
        return False


def sha256(text: str) -> str:
    """SHA-256 (hex) of the text's UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()


def with_line_ends_of(current: str, submitted: str) -> str:
    """A text from a browser form (CRLF everywhere) with the line ends that `current` uses.

    Lines that did not change keep exactly their own line end; new lines take the most common one (LF when
    there is none). A final newline is kept as submitted.
    """
    lines = submitted.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    old = _split_keeping_ends(current)
    common = _most_common_end([end for _line, end in old])
    ends = dict(old) if len({end for _line, end in old}) > 1 else {}
    return "".join(line + ends.get(line, common) for line in lines[:-1]) + lines[-1]


def _split_keeping_ends(text: str) -> list[tuple[str, str]]:
    pieces, start = [], 0
    for index, character in enumerate(text):
        if character == "\n":
            end = "\r\n" if index > start and text[index - 1] == "\r" else "\n"
            pieces.append((text[start : index + 1 - len(end)], end))
            start = index + 1
        elif character == "\r" and text[index + 1 : index + 2] != "\n":
            pieces.append((text[start:index], "\r"))
            start = index + 1
    return pieces


def _most_common_end(ends: list[str]) -> str:
    return max(dict.fromkeys(ends), key=ends.count) if ends else "\n"
