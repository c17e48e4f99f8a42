"""What a browser does with the pages of agents: read one form, change fields, send it with CRLF line ends."""

from __future__ import annotations

import hashlib
from html.parser import HTMLParser
from typing import Any

from django.apps import apps
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

ROWS = "experiences"


class _Form(HTMLParser):
    """The controls of the form with this id; what stands in a `<template>` is not sent."""

    def __init__(self, form_id: str) -> None:
        super().__init__()
        self.form_id = form_id
        self.values: dict[str, str] = {}
        self._inside = False
        self._templates = 0
        self._textarea: str | None = None
        self._select: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "form":
            self._inside = given.get("id") == self.form_id
        self._templates += tag == "template"
        name = given.get("name")
        if not self._inside or self._templates:
            return
        if tag == "input" and name and given.get("type") not in ("submit", "button", "file"):
            if given.get("type") not in ("checkbox", "radio") or "checked" in given:
                self.values[name] = given.get("value") or ("on" if "checked" in given else "")
        elif tag == "textarea" and name:
            self._textarea = name
            self.values[name] = ""
        elif tag == "select" and name:
            self._select = name
        elif tag == "option" and self._select and "selected" in given:
            self.values[self._select] = given.get("value") or ""

    def handle_data(self, data: str) -> None:
        if self._textarea:
            self.values[self._textarea] += data

    def handle_endtag(self, tag: str) -> None:
        self._templates -= tag == "template"
        if tag == "form":
            self._inside = False
        elif tag == "textarea":
            # A browser reads any line end as LF, drops one behind the tag, and sends the others as CRLF.
            if self._textarea:
                text = self.values[self._textarea].replace("\r\n", "\n").replace("\r", "\n")
                self.values[self._textarea] = text.removeprefix("\n").replace("\n", "\r\n")
            self._textarea = None
        elif tag == "select":
            self._select = None


def form_of(response: HttpResponse, form_id: str = "agent_form") -> dict[str, str]:
    """What the form holds, as a browser would send it unchanged."""
    assert response.status_code == 200, response.status_code
    parser = _Form(form_id)
    parser.feed(response.content.decode())
    return parser.values


def agent_page(agent: Any) -> str:
    return reverse("admin:agents_agent_change", args=[agent.pk])


def row_page(row: Any) -> str:
    return reverse("admin:experiences_experience_change", args=[row.pk])


def document_page(document: Any) -> str:
    return reverse("admin:agents_document_change", args=[document.pk])


def send(client: Client, url: str, values: dict[str, Any]) -> HttpResponse:
    """Send a form; a value of None leaves the field out, as an unticked box does."""
    return client.post(url, {name: value for name, value in values.items() if value is not None})


def save(client: Client, url: str, form_id: str = "agent_form", **changes: Any) -> HttpResponse:
    """Open a page, change fields, send it."""
    return send(client, url, {**form_of(client.get(url), form_id), **changes})


def with_new_rows(values: dict[str, str], *contents: str, order: bool = False) -> dict[str, str]:
    """The form after a person added rows; with `order` also the place that the page's script gives them."""
    number = int(values[f"{ROWS}-TOTAL_FORMS"])
    changed = dict(values)
    for content in contents:
        row = f"{ROWS}-{number}"
        changed |= {f"{row}-id": "", f"{row}-content": content, f"{row}-enabled": "on"}
        changed[f"{row}-order"] = str(number) if order else ""
        number += 1
    changed[f"{ROWS}-TOTAL_FORMS"] = str(number)
    return changed


def errors_of(response: HttpResponse) -> str:
    """All that the page says is wrong: in the form, in its rows, above it."""
    form = response.context["adminform"].form
    told = [str(form.errors)]
    told += [str(page.formset.errors) for page in response.context["inline_admin_formsets"]]
    held = response.context.get("held")
    if held is not None and held.error is not None:
        told.append(f"{held.error.code} {held.error.message} {held.error.extra}")
    return "\n".join(told)


def said(response: HttpResponse) -> str:
    """The messages for the next page."""
    return "\n".join(str(message) for message in response.wsgi_request._messages)


def stored() -> str:
    """A digest of every row of every table but sessions: equal digests mean that nothing was written."""
    digest = hashlib.sha256()
    with connection.cursor() as cursor:
        for table in sorted(model._meta.db_table for model in apps.get_models(include_auto_created=True)):
            if table == "django_session":
                continue
            cursor.execute(f'SELECT * FROM "{table}"')
            digest.update(repr((table, sorted(map(repr, cursor.fetchall())))).encode())
    return digest.hexdigest()
