"""Texts as a reviewer must see them: nothing invisible stays invisible. For templates and admin pages alike."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from common.text import show_hidden

_HIDDEN_MARK = re.compile(r"(\[U\+[0-9A-F]{4,6}\])")


def visible(text: str) -> SafeString:
    """The text, escaped, with each character that shows nothing as a highlighted `[U+XXXX]`."""
    pieces = _HIDDEN_MARK.split(show_hidden(text))
    mark = '<span class="fieldbook-hidden">{}</span>'
    return format_html_join(
        "", "{}", ((format_html(mark, piece) if index % 2 else piece,) for index, piece in enumerate(pieces))
    )


def table(titles: Any, rows: list[tuple[Any, ...]]) -> SafeString | str:
    """A small table; a dash without rows."""
    if not rows:
        return "–"
    head = format_html_join("", '<th scope="col">{}</th>', ((title,) for title in titles))
    body = [format_html_join("", "<td>{}</td>", ((cell,) for cell in row)) for row in rows]
    return format_html(
        '<div class="fieldbook-scroll"><table class="fieldbook-table"><thead><tr>{}</tr></thead>'
        "<tbody>{}</tbody></table></div>",
        head,
        format_html_join("", "<tr>{}</tr>", ((row,) for row in body)),
    )


def lines(texts: Iterable[Any]) -> SafeString | str:
    """One text a line; a dash without any."""
    return format_html_join("", "{}<br>", ((visible(str(text)),) for text in texts)) or "–"
