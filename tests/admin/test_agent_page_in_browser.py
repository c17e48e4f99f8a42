"""The agent page in Chromium: rows are added, moved by keyboard, buttons and mouse, deleted and kept."""

import pytest
from playwright.sync_api import TimeoutError

from experiences.models import Experience
from tests import factories
from tests.admin.agent_forms import agent_page

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ROW = "#experiences-group [data-row]"


@pytest.fixture
def agent(acme):
    return factories.make_agent(acme, "运维助手", rows=["一", "二", "三"])


@pytest.fixture
def page(browser_page, operator, agent):
    opened = browser_page(operator, agent_page(agent) + "#experiences")
    opened.wait_for_selector(f"{ROW} textarea", state="visible")
    return opened


def shown(page):
    return page.eval_on_selector_all(f"{ROW} textarea", "boxes => boxes.map(box => box.value)")


def stored_rows(agent):
    return list(Experience.objects.of_agent(agent.pk).values_list("content", "order", "enabled"))


def save(page):
    page.click("button[name=_continue]")
    page.wait_for_load_state()
    page.wait_for_selector(f"{ROW} textarea", state="visible")


def drag_until(page, x, y, condition):
    """Move to a place, and a little around it, until the page has noticed; a busy machine misses events."""
    for attempt in range(20):
        page.mouse.move(x, y + attempt % 3 * 4, steps=10)
        try:
            page.wait_for_function(condition, timeout=500)
            return
        except TimeoutError:
            continue
    pytest.fail(f"never became true: {condition}")


def test_a_row_moves_by_keyboard_and_keeps_the_focus(page, agent):
    page.focus(f"{ROW}:nth-child(1) [data-move='1']")
    page.keyboard.press("Enter")
    page.keyboard.press("Space")
    assert shown(page) == ["二", "三", "一"]
    assert page.evaluate("document.activeElement.dataset.move") == "1"
    assert page.inner_text("[data-said]") == "Moved to place 3"
    page.keyboard.press("Enter")
    assert shown(page) == ["二", "三", "一"]
    save(page)
    assert stored_rows(agent) == [("二", 0, True), ("三", 1, True), ("一", 2, True)]
    assert page.faults == []


def test_a_new_row_can_be_dragged_before_it_is_saved(page, agent):
    page.click("[data-add]")
    page.keyboard.type("新的😀")
    page.click("[data-add]")
    page.keyboard.type("second")
    assert shown(page) == ["一", "二", "三", "新的😀", "second"]
    handle = page.locator(f"{ROW} .fieldbook-handle").last
    handle.scroll_into_view_if_needed()
    start, target = handle.bounding_box(), page.locator(ROW).first.bounding_box()
    page.mouse.move(start["x"] + 8, start["y"] + 12)
    page.mouse.down()
    page.mouse.move(start["x"] + 8, start["y"] - 20, steps=5)
    page.wait_for_selector(".sortable-ghost")
    drag_until(
        page, start["x"] + 8, target["y"] + 5, f"document.querySelector('{ROW} textarea').value === 'second'"
    )
    page.mouse.up()
    page.wait_for_selector(".sortable-ghost", state="detached")
    assert page.input_value(f"{ROW}:first-child input[name$='-order']") == "0"
    save(page)
    assert [content for content, _order, _on in stored_rows(agent)] == ["second", "一", "二", "三", "新的😀"]
    assert page.faults == []


def test_a_deleted_row_can_be_kept_until_the_save(page, agent):
    page.click(f"{ROW}:nth-child(1) [data-delete]")
    page.click(f"{ROW}:nth-child(2) [data-delete]")
    page.click(f"{ROW}:nth-child(1) [data-undo]")
    save(page)
    assert [content for content, _order, _on in stored_rows(agent)] == ["一", "三"]


def test_the_counter_counts_code_points_and_blocks_nothing(page, agent):
    page.click("[data-add]")
    page.keyboard.insert_text("😀" * 290 + "\n" * 10)
    counter = page.locator(f"{ROW} .fieldbook-counter").last
    assert counter.inner_text() == "290/300"
    page.keyboard.insert_text("字")
    assert counter.inner_text() == "301/300"
    assert "fieldbook-counter-over" in counter.get_attribute("class")
    page.keyboard.press("Backspace")
    page.keyboard.press("Backspace")
    page.keyboard.insert_text("字")
    assert counter.inner_text() == "300/300"
    save(page)
    assert stored_rows(agent)[3] == ("😀" * 290 + "\n" * 9 + "字", 3, True)


def test_hidden_characters_are_shown_while_typing(page):
    page.click("[data-add]")
    page.keyboard.insert_text("a\u202eb")
    row = page.locator(ROW).last
    assert row.locator("[data-marked]").inner_text() == "a[U+202E]b"
    page.keyboard.press("Backspace")
    page.keyboard.press("Backspace")
    assert row.locator("[data-warning]").is_hidden()


def test_leaving_with_a_moved_row_is_warned_of(page):
    page.click(f"{ROW}:nth-child(1) [data-move='1']")
    page.goto("about:blank")
    assert page.faults[:1] == ["dialog "]


def test_no_stored_text_runs_a_script(browser_page, operator, acme):
    text = "<img src=x onerror=alert(1)><script>alert(1)</script>\u202e</textarea><svg onload=alert(1)>"
    agent = factories.make_agent(
        acme, text[:60], system_prompt=text, rows=[text], tags=["<svg onload=alert(1)>"]
    )
    base = agent_page(agent)
    page = browser_page(operator, base + "#experiences")
    page.wait_for_selector(f"{ROW} textarea", state="visible")
    page.fill(f"{ROW} textarea", text + " two")
    page.click("button[name=_preview_changes]")
    page.wait_for_selector(".fieldbook-panel")
    save(page)
    for rest in ("history/", "history/compare/?from=1&to=2", "history/1/restore/", "copy/"):
        page.goto(page.url.split("/admin/")[0] + base.replace("change/", rest))
    page.goto(page.url.split("/admin/")[0] + "/admin/experiences/experience/")
    assert page.faults == []
