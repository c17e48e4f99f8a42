"""The language of a person at a terminal, which is not that of the pages."""

from __future__ import annotations

from collections.abc import Mapping

#: Where a terminal says its language, in the order of gettext.
_VARIABLES = ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")


def terminal_language(environment: Mapping[str, str]) -> str:
    """`zh-hans` for a Chinese terminal, else `en`: what commands print around the messages is English."""
    told = next((environment[name] for name in _VARIABLES if environment.get(name)), "")
    return "zh-hans" if told.casefold().startswith("zh") else "en"
