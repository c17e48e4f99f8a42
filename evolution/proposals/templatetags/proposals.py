"""For templates: texts of runtimes with hidden characters marked."""

from __future__ import annotations

from typing import Any

from django import template
from django.utils.safestring import SafeString

from common.marks import visible

register = template.Library()


@register.filter
def marked(text: Any) -> SafeString:
    """The text, escaped, with each character that shows nothing as a highlighted `[U+XXXX]`."""
    return visible(str(text or ""))
