"""Fixtures of the admin tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from playwright.sync_api import BrowserContext, Page


@pytest.fixture
def count_queries() -> Callable[[Callable[[], object]], int]:
    """`count_queries(call)` -> how often the call asks the database."""

    def count(call: Callable[[], object]) -> int:
        with CaptureQueriesContext(connection) as captured:
            call()
        return len(captured)

    return count


@pytest.fixture
def browser_page(browser, live_server, answered_in_full) -> Iterator[Callable[..., Any]]:
    """`browser_page(person, path)` -> a page of Chromium, signed in; errors and dialogs of its scripts are kept."""
    contexts: list[BrowserContext] = []

    def open_page(person: Any, path: str) -> Page:
        client = Client()
        client.force_login(person)
        context = browser.new_context(locale="en-US", viewport={"width": 1400, "height": 1000})
        contexts.append(context)
        session = client.cookies[settings.SESSION_COOKIE_NAME].value
        context.add_cookies(
            [{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}]
        )
        page = context.new_page()
        page.faults = []
        page.on("pageerror", lambda error: page.faults.append(f"error {error}"))
        page.on("dialog", lambda dialog: (page.faults.append(f"dialog {dialog.message}"), dialog.accept()))
        page.goto(live_server.url + path)
        return page

    yield open_page
    for context in contexts:
        context.close()
