"""A real browser against a live server; every key press and click of a test is counted."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

import pytest
from django.apps import apps
from django.conf import settings as django_settings
from django.test import Client
from playwright.sync_api import BrowserContext, Page

from common.companies.models import Company


class Visitor:
    """A signed-in person in front of the browser. `actions` counts key presses and clicks."""

    def __init__(self, page: Page, address: str) -> None:
        self.page, self.address, self.actions = page, address, 0
        self.faults: list[str] = []
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("dialog", lambda dialog: (self.faults.append(dialog.message), dialog.dismiss()))

    def open(self, path: str) -> None:
        self.page.goto(f"{self.address}{path}")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.actions += 1
            self.page.keyboard.press(key)

    def press_and_go(self, *keys: str) -> None:
        """Press keys of which the last one leads to another page."""
        *first, last = keys
        self.press(*first)
        with self.page.expect_navigation():
            self.press(last)

    def click_and_go(self, selector: str) -> None:
        self.actions += 1
        with self.page.expect_navigation():
            self.page.click(selector)

    def type(self, text: str) -> None:
        """Each character is a key press."""
        self.actions += len(text)
        self.page.keyboard.type(text)

    def ready(self) -> None:
        """Wait until the page takes keys that decide."""
        self.page.wait_for_selector("[data-ready=yes]")

    def text(self) -> str:
        return self.page.inner_text("body")


@pytest.fixture
def visit(browser, live_server, answered_in_full) -> Iterator:
    """`visit(person)` -> a Visitor with that person's session, in English."""
    contexts: list[BrowserContext] = []

    def start(person, **options) -> Visitor:
        client = Client()
        client.force_login(person)
        name = django_settings.SESSION_COOKIE_NAME
        context = browser.new_context(
            **{"locale": "en-US", "viewport": {"width": 1440, "height": 900}} | options
        )
        contexts.append(context)
        context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": live_server.url}])
        return Visitor(context.new_page(), live_server.url)

    yield start
    for context in contexts:
        context.close()


@pytest.fixture(autouse=True)
def _seeded(browser, transactional_db) -> None:
    """What the migrations put into the tables: an earlier test with a live server has emptied them."""
    Company.objects.get_or_create(slug="_global", defaults={"name": "Global"})
    import_module("agents.migrations.0003_default_protection").make_rules(apps, None)
    import_module("evolution.memory.migrations.0002_default_phrases").make_phrases(apps, None)
