"""Helpers of the admin tests: what a form page holds, what a person reads, one round of a form."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from django.http import HttpResponse
from django.test import Client


class _Fields(HTMLParser):
    """Values of the controls of all forms of a page, as a browser would send them unchanged."""

    def __init__(self) -> None:
        super().__init__()
        self.values: dict[str, list[str]] = {}
        self._textarea: str | None = None
        self._select: str | None = None

    def _add(self, name: str, value: str) -> None:
        self.values.setdefault(name, []).append(value)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name = given.get("name")
        if tag == "input" and name and given.get("type") not in ("submit", "button"):
            if given.get("type") not in ("checkbox", "radio") or "checked" in given:
                self._add(name, given.get("value") or ("on" if "checked" in given else ""))
        elif tag == "textarea" and name:
            self._textarea = name
            self._add(name, "")
        elif tag == "select" and name:
            self._select = name
        elif tag == "option" and self._select and "selected" in given:
            self._add(self._select, given.get("value") or "")

    def handle_data(self, data: str) -> None:
        if self._textarea:
            self.values[self._textarea][-1] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self._textarea = None
        elif tag == "select":
            self._select = None


def form_values(response: HttpResponse) -> dict[str, Any]:
    """What the page's controls hold."""
    parser = _Fields()
    parser.feed(response.content.decode())
    return {name: values if len(values) > 1 else values[0] for name, values in parser.values.items()}


def save(client: Client, url: str, **changes: Any) -> HttpResponse:
    """Open a form page, change some fields, send it; a value of None leaves the field out."""
    values = {**form_values(client.get(url)), **changes}
    return client.post(url, {name: value for name, value in values.items() if value is not None})


def shown_messages(response: HttpResponse) -> list[str]:
    """The messages that the next page will show (or this page showed)."""
    return [str(message) for message in response.wsgi_request._messages]
