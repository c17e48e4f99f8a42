"""Addresses of pages that other rooms bring; a page that is not installed has no address."""

from __future__ import annotations

from typing import Any

from django.urls import NoReverseMatch, reverse
from django.utils.http import urlencode


def address(name: str, *args: Any, **query: Any) -> str:
    """The URL of a named page with its query; empty where there is no such page."""
    try:
        url = reverse(name, args=args)
    except NoReverseMatch:
        return ""
    return f"{url}?{urlencode(query)}" if query else url
