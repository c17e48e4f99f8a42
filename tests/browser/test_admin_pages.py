"""Every page of the admin in a real browser: no error in the console, and nothing fetched from elsewhere."""

import pytest

from tests.house.admin_addresses import admin_addresses
from tests.house.admin_matrix import PAGES
from tests.house.furniture import furnish

pytestmark = pytest.mark.browser
#: Answers that are files, and what leaves the session.
NO_PAGES = ("_export", ":jsi18n", ":autocomplete", ":search", ":login", ":logout")


def watched(page, address):
    """What the browser complains about, and which other hosts it asks."""
    found = []
    page.on("console", lambda message: found.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: found.append(str(error)))
    page.on("requestfailed", lambda request: found.append(f"{request.failure} {request.url}"))
    own = (address, "data:", "blob:")
    page.on("request", lambda request: None if request.url.startswith(own) else found.append(request.url))
    return found


#: What scripts start when the page is loaded has begun once two frames are drawn.
DRAWN = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"


@pytest.mark.parametrize("locale", ["zh-CN", "en-US"])
def test_every_page_is_quiet_and_asks_no_other_host(visit, chief, acme, locale):
    house = furnish(acme)
    visitor = visit(chief, locale=locale)
    found = watched(visitor.page, visitor.address)
    loud = {}
    for address in admin_addresses():
        if "c" in PAGES[address.name][0] and not any(part in address.name for part in NO_PAGES):
            visitor.open(address.url(house))
            visitor.page.evaluate(DRAWN)
            if found:
                loud[address.name] = list(found)
                found.clear()
    assert loud == {}


def test_a_complaint_is_seen(visit, chief):
    visitor = visit(chief)
    found = watched(visitor.page, visitor.address)
    visitor.open("/admin/")
    with visitor.page.expect_request("http://127.0.0.2:9/"), visitor.page.expect_console_message():
        visitor.page.evaluate("console.error('oh'); fetch('http://127.0.0.2:9/').catch(() => {})")
    assert "oh" in found
    assert "http://127.0.0.2:9/" in found
