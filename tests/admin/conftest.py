"""Fixtures of the admin tests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from playwright.sync_api import Page, sync_playwright


@pytest.fixture
def count_queries() -> Callable[[Callable[[], object]], int]:
    """`count_queries(call)` -> how often the call asks the database."""

    def count(call: Callable[[], object]) -> int:
        with CaptureQueriesContext(connection) as captured:
            call()
        return len(captured)

    return count


@pytest.fixture
def browser_page(live_server, monkeypatch) -> Iterator[Callable[..., Any]]:
    """`browser_page(person, path)` -> a page of Chromium, signed in; errors and dialogs of its scripts are kept."""
    executable = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not executable:
        pytest.skip("no Chromium; CHROMIUM may name one")
    # Playwright runs an event loop in this thread, which Django takes for an async view.
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])

        def open_page(person: Any, path: str) -> Page:
            client = Client()
            client.force_login(person)
            context = browser.new_context(locale="en-US", viewport={"width": 1400, "height": 1000})
            session = client.cookies[settings.SESSION_COOKIE_NAME].value
            cookie = {"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}
            context.add_cookies([cookie])
            page = context.new_page()
            page.faults = []
            page.on("pageerror", lambda error: page.faults.append(f"error {error}"))
            page.on(
                "dialog", lambda dialog: (page.faults.append(f"dialog {dialog.message}"), dialog.accept())
            )
            page.goto(live_server.url + path)
            return page

        yield open_page
        browser.close()
