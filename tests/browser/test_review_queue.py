"""The review queue in a real browser: by keyboard alone, without JavaScript, and never by accident."""

import pytest

from common.receipts.selectors import verify_chain
from evolution.proposals.models import Proposal
from tests.factories import ApiClient, make_agent, make_key
from tests.proposals.queue_pages import LIST, NOTE, QUEUE, RULE, numbered, waiting_rows

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def agent(acme):
    documents = [("memory/notes.md", "# Notes\n\n- one\n"), ("principles.md", "# P\n")]
    return make_agent(acme, name="运维", documents=documents)


@pytest.fixture
def runtime(acme):
    return ApiClient(make_key(acme, scopes=["read", "report"]))


@pytest.fixture
def reviewer(visit, approver):
    return visit(approver)


def draft(runtime, agent, *items, **fields):
    answer = runtime.post("proposals", {"agent": agent.pk, "items": list(items), **fields})
    assert answer.status_code == 201, answer.content.decode()
    return numbered(answer.json()["code"])


@pytest.mark.timeout(900)
def test_two_hundred_waiting_proposals_are_cleared_in_two_hundred_and_ten_actions(
    reviewer, runtime, acme, agent
):
    for number in range(20):  # one target: each is shown on the text that the last one left
        draft(runtime, agent, NOTE | {"content": f"room {number} is on floor {number * 7 % 10}"})
    waiting_rows(acme, agent, 180, risk="medium")
    reviewer.open(QUEUE)
    reviewer.press_and_go("j")
    reviewer.press_and_go("k")
    reviewer.ready()
    reviewer.press("r")
    reviewer.type("no")
    reviewer.press_and_go("Enter")
    reviewer.ready()
    reviewer.press_and_go("s")
    while reviewer.page.query_selector("#decide"):
        reviewer.ready()
        reviewer.press_and_go("a")
    assert "Nothing waits for you." in reviewer.text()
    statuses = list(Proposal.objects.values_list("status", flat=True))
    assert {name: statuses.count(name) for name in set(statuses)} == {
        "applied": 198,
        "rejected": 1,
        "skipped": 1,
    }
    assert reviewer.actions <= 210
    assert reviewer.faults == []
    assert verify_chain(acme).intact


def test_a_taught_preference_is_edited_approved_shown_and_taken_back(reviewer, runtime, acme, agent):
    def prompt():
        return runtime.get(f"agents/{agent.pk}/prompt?user_id=u1", accept="text/plain").content

    before = prompt()
    taught = {"agent": agent.pk, "user_id": "u1", "text": "记住，我喜欢你用表格来展示对比信息"}
    assert runtime.post("teachings", taught).status_code == 201
    assert prompt() == before
    reviewer.open(QUEUE)
    assert "explicit teaching" in reviewer.text()
    reviewer.press_and_go("e")
    reviewer.press("Control+A")
    reviewer.type("用表格展示对比，并附单位")
    reviewer.press_and_go("Control+Enter")
    assert "look at it" in reviewer.text() and "- 用表格展示对比，并附单位" in reviewer.text()
    reviewer.ready()
    reviewer.press_and_go("a")
    assert "EP-001 applied: version 1 of users/u1/profile.md." in reviewer.text()
    assert "用表格展示对比，并附单位" in prompt().decode()
    reviewer.open(f"{LIST}{numbered('EP-001').pk}/change/")
    reviewer.click_and_go("text=Roll back")
    reviewer.page.fill("input[name=reason]", "not wanted any more")
    reviewer.click_and_go("button:has-text('Roll back')")
    assert "EP-001 rolled back" in reviewer.text()
    assert prompt() == before
    assert verify_chain(acme).intact


def test_high_risk_is_approved_by_keyboard_with_reason_and_name(reviewer, runtime, agent):
    draft(runtime, agent, RULE | {"content": "先预发"})
    reviewer.open(QUEUE)
    reviewer.ready()
    reviewer.press("a")
    assert reviewer.page.evaluate("document.activeElement.name") == "reason"
    reviewer.type("agreed")
    reviewer.press("Enter")
    assert reviewer.page.evaluate("document.activeElement.name") == "confirmation"
    reviewer.type("运维")
    reviewer.press_and_go("Enter")
    assert numbered("EP-001").status == "applied"


def test_keys_are_text_while_one_types(reviewer, runtime, agent):
    draft(runtime, agent, NOTE | {"content": "two"})
    draft(runtime, agent, NOTE | {"content": "three"})
    reviewer.open(QUEUE)
    reviewer.ready()
    here = reviewer.page.url
    reviewer.press("r")
    reviewer.type("asjk1?x")
    assert reviewer.page.input_value("[data-reason]") == "asjk1?x"
    assert reviewer.page.url == here
    assert set(Proposal.objects.values_list("status", flat=True)) == {"pending"}
    reviewer.press("Escape")
    reviewer.press_and_go("j")


def test_a_key_pressed_twice_never_decides_about_what_was_not_seen(reviewer, runtime, agent):
    draft(runtime, agent, NOTE | {"content": "two"})
    draft(runtime, agent, NOTE | {"content": "three"})
    reviewer.open(QUEUE)
    reviewer.ready()
    with reviewer.page.expect_navigation():
        reviewer.page.evaluate(
            "for (let i = 0; i < 2; i++) document.body.dispatchEvent("
            "new KeyboardEvent('keydown', {key: 's', bubbles: true}))"
        )
    reviewer.page.evaluate(
        "document.querySelector('[data-review]').dataset.ready = 'no';"
        "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 's', bubbles: true}))"
    )
    assert sorted(Proposal.objects.values_list("status", flat=True)) == ["pending", "skipped"]


def test_numbers_tick_items_and_only_the_ticked_ones_are_decided(reviewer, runtime, agent):
    proposal = draft(runtime, agent, NOTE | {"content": "two"}, RULE | {"content": "x"})
    reviewer.open(QUEUE)
    reviewer.ready()
    reviewer.press("2")
    reviewer.press_and_go("a")
    assert list(proposal.items.values_list("status", flat=True).order_by("number")) == ["approved", "pending"]


def test_several_are_chosen_and_decided_by_keyboard(reviewer, runtime, agent):
    for words in ("two", "three", "four"):
        draft(runtime, agent, NOTE | {"content": words})
    reviewer.open(QUEUE)
    reviewer.press("x")
    reviewer.press_and_go("j")
    reviewer.press("x")
    reviewer.click_and_go("button:has-text('Skip …')")
    reviewer.press_and_go("Enter")
    assert sorted(Proposal.objects.values_list("status", flat=True)) == ["pending", "skipped", "skipped"]


def test_the_help_opens_and_keys_rest_meanwhile(reviewer, runtime, agent):
    draft(runtime, agent, NOTE | {"content": "two"})
    reviewer.open(QUEUE)
    reviewer.ready()
    reviewer.press("?")
    assert reviewer.page.is_visible("dialog.review-keys")
    reviewer.press("s")
    reviewer.press("Escape")
    assert not reviewer.page.is_visible("dialog.review-keys")
    assert numbered("EP-001").status == "pending"


def test_everything_works_without_javascript(visit, approver, runtime, agent):
    draft(runtime, agent, NOTE | {"content": "two"})
    draft(runtime, agent, NOTE | {"content": "three"})
    plain = visit(approver, java_script_enabled=False)
    plain.open(QUEUE)
    plain.click_and_go(".review-item a:has-text('Edit')")
    plain.page.fill("textarea[name=content]", "two and a half")
    plain.click_and_go("button:has-text('Save and look again')")
    plain.click_and_go("#decide button[value=approve]")
    assert numbered("EP-001").status == "applied"
    plain.page.fill("[name=reason]", "no")
    plain.click_and_go("#decide button[value=reject]")
    assert numbered("EP-002").status == "rejected"


def test_enter_on_a_tick_decides_nothing_without_javascript(visit, approver, runtime, agent):
    draft(runtime, agent, NOTE | {"content": "two"})
    plain = visit(approver, java_script_enabled=False)
    plain.open(QUEUE)
    plain.page.focus("input[name=item]")
    plain.press_and_go("Enter")
    plain.open(QUEUE)
    assert numbered("EP-001").status == "pending"


ATTACKS = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    '"><svg onload=alert(3)>',
    "</textarea><script>alert(4)</script>",
    "javascript:alert(5)",
    "{{ 7*7 }}<details open ontoggle=alert(6)>",
)


def test_no_text_of_a_runtime_ever_runs(visit, chief, runtime, agent):
    attack = " ".join(ATTACKS)
    proposal = draft(
        runtime,
        agent,
        NOTE | {"content": attack},
        title=attack,
        rationale=attack,
        conversation_id=attack[:190],
    )
    looker = visit(chief)
    pages = (QUEUE, f"{QUEUE}?view=unified&prompt=yes", f"{QUEUE}?p={proposal.pk}&edit=1&whole=new_text")
    for url in (
        *pages,
        LIST,
        f"{LIST}{proposal.pk}/change/",
        "/admin/proposals/proposalitem/",
        f"{LIST}audit/",
    ):
        looker.open(url)
        assert looker.page.evaluate("document.querySelectorAll('[onerror],[onload],[ontoggle]').length") == 0
    assert looker.faults == []
