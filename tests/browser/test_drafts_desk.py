"""The drafts desk in a real browser: dozens by keyboard, never by accident, and without JavaScript."""

import pytest
from django.utils import timezone

from evolution.lessons.models import Lesson
from tests.lessons.people import make_lesson

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
DESK = "/admin/lessons/lesson/desk/"
DOZENS = 24


def drafts(company, count, **values):
    now = timezone.now()
    return [make_lesson(company, now, "draft", title=f"draft {n}", **values) for n in range(count)]


def statuses():
    return list(Lesson.objects.order_by("pk").values_list("status", flat=True))


@pytest.mark.timeout(300)
def test_dozens_of_drafts_are_cleared_with_little_more_than_a_key_each(visit, approver, acme):
    drafts(acme, DOZENS)
    person = visit(approver)
    person.open(DESK)
    person.press_and_go("j")
    person.press_and_go("k")
    person.ready()
    person.press_and_go("s")
    person.ready()
    person.press("r")
    person.type("no")
    person.press_and_go("Enter")
    while person.page.query_selector("#decide"):
        person.ready()
        person.press_and_go("c")
    assert "Only what you put off is left." in person.text()
    assert statuses() == ["draft", "rejected", *["active"] * (DOZENS - 2)]
    assert person.actions <= DOZENS + 5
    assert person.faults == []


def test_what_lacks_is_typed_and_confirmed_by_keyboard(visit, approver, acme):
    drafts(acme, 1, what="", takeaway="<img src=x onerror=alert(1)>", tags=["x\u202ey"])
    person = visit(approver)
    person.open(DESK)
    person.ready()
    person.press_and_go("c")
    assert person.page.evaluate("document.activeElement.name") == "what"
    person.type("c: jr")
    person.press_and_go("Control+Enter")
    lesson = Lesson.objects.get()
    assert (lesson.status, lesson.what) == ("active", "c: jr")
    assert person.faults == []


def test_keys_are_text_while_one_types_and_wait_after_a_page_has_opened(visit, approver, acme):
    drafts(acme, 2)
    person = visit(approver)
    person.open(DESK)
    person.ready()
    here = person.page.url
    person.press("r")
    person.type("csejk?")
    assert person.page.input_value("[data-reason]") == "csejk?" and person.page.url == here
    person.press("Escape")
    person.page.evaluate(
        "document.querySelector('[data-review]').dataset.ready = 'no';"
        "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'c', bubbles: true}))"
    )
    assert statuses() == ["draft", "draft"]
    person.press("?")
    assert person.page.is_visible("dialog.review-keys")


def test_everything_works_without_javascript(visit, approver, acme):
    drafts(acme, 3, takeaway="")
    plain = visit(approver, java_script_enabled=False)
    plain.open(DESK)
    plain.click_and_go("#decide button:has-text('Later')")
    plain.page.fill("[name=reason]", "no")
    plain.click_and_go("#decide button[value=reject]")
    plain.click_and_go("#decide a:has-text('Fill in what is missing')")
    plain.page.fill("[name=takeaway]", "Test first.")
    plain.click_and_go("button:has-text('Save and confirm')")
    assert statuses() == ["draft", "rejected", "active"]
    plain.click_and_go("button:has-text('show it again')")
    assert "draft 0" in plain.text()
