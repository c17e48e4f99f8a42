"""Texts as a reviewer must see them: nothing invisible stays invisible. For templates and admin pages alike."""

from __future__ import annotations

import re

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
