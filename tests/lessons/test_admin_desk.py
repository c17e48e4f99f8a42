"""The drafts desk: one draft after the other, confirmed, rejected, edited or put off; what waits for whom."""

import pytest
from django.test import Client
from django.utils import timezone

from common.queues import COUNTED
from common.receipts.models import Receipt
from evolution.lessons.models import Lesson
from tests.admin.pages import form_values
from tests.factories import make_agent
from tests.lessons.people import COMPLETE, make_lesson

pytestmark = pytest.mark.django_db
DESK = "/admin/lessons/lesson/desk/"
START = "/admin/"
NOW = timezone.now()


@pytest.fixture
def drafts(acme):
    """Three drafts; the second lacks its takeaway and its checklist."""
    return [
        make_lesson(acme, NOW, "draft", title="alpha", severity="high"),
        make_lesson(acme, NOW, "draft", title="beta", takeaway="", checklist=[]),
        make_lesson(acme, NOW, "draft", title="gamma", agent=make_agent(acme, name="运维")),
    ]


@pytest.fixture
def client(signed_in, approver):
    return signed_in(approver)


def current(response):
    shown = response.context["shown"]
    return shown.lesson.title if shown else None


def rows(response):
    return [row["lesson"].title for row in response.context["rows"]]


def said(response):
    return [str(message) for message in response.context["messages"]]


def decide(client, lesson, verb, query="", **more):
    sent = {"verb": verb, "version": lesson.version, **more}
    return client.post(f"{DESK}{lesson.pk}/decide/{query}", sent, follow=True)


def edit(client, lesson, verb="confirm", query="", **changes):
    """Open the form on the desk, change some boxes, press a button."""
    values = form_values(client.get(f"{DESK}?p={lesson.pk}&edit=yes"))
    names = ("base_version", "title", "type", "severity", "category", "what", "when", "how")
    kept = {name: values[name] for name in (*names, "takeaway", "checklist", "tags")}
    return client.post(f"{DESK}{lesson.pk}/edit/{query}", {**kept, **changes, "verb": verb}, follow=True)


def states():
    return dict(Lesson.objects.values_list("title", "status"))


def test_the_oldest_draft_is_first_and_each_decision_leads_to_the_next(client, drafts):
    first, second, third = drafts
    opened = client.get(DESK)
    assert (current(opened), rows(opened)) == ("alpha", ["alpha", "beta", "gamma"])
    after = decide(client, first, "confirm")
    assert (current(after), said(after)) == ("beta", ["EXP-001 confirmed."])
    after = decide(client, second, "reject", reason="重复")
    assert (current(after), said(after)) == ("gamma", ["EXP-002 rejected."])
    after = decide(client, third, "confirm")
    assert current(after) is None and "No draft waits for you." in after.content.decode()
    assert states() == {"alpha": "active", "beta": "rejected", "gamma": "active"}
    assert Receipt.objects.filter(trigger__in=["lesson_confirmed", "lesson_rejected"]).count() == 3


def test_an_incomplete_draft_offers_its_boxes_instead(client, drafts):
    shown = client.get(f"{DESK}?p={drafts[1].pk}").content.decode()
    assert 'data-verb="confirm"' not in shown and "Fill in what is missing" in shown
    refused = decide(client, drafts[1], "confirm")
    assert refused.status_code == 400 and current(refused) == "beta"
    assert states()["beta"] == "draft"


def test_what_lacks_is_filled_in_and_confirmed_in_one_go(client, drafts):
    after = edit(client, drafts[1], takeaway="Test first.", checklist="a\nb\n[x] c")
    assert (current(after), said(after)) == ("gamma", ["EXP-002 confirmed."])
    lesson = Lesson.objects.get(title="beta")
    assert (lesson.status, lesson.takeaway, len(lesson.checklist)) == ("active", "Test first.", 3)
    assert lesson.what == COMPLETE["what"]


def test_what_is_saved_stays_saved_when_it_cannot_be_confirmed_yet(client, drafts):
    after = edit(client, drafts[1], takeaway="Test first.")
    assert current(after) == "beta" and after.context["form"] is not None
    assert said(after)[0] == "EXP-002 saved, but not confirmed yet."
    assert Lesson.objects.get(title="beta").takeaway == "Test first."
    after = edit(client, drafts[1], verb="save", checklist="a\nb\nc")
    assert (current(after), said(after)) == ("beta", ["EXP-002 saved."])
    assert states()["beta"] == "draft"


def test_a_fault_keeps_what_was_typed(client, drafts):
    after = edit(client, drafts[1], title="", takeaway="mine")
    assert after.status_code == 400 and "title" in after.context["form"].errors
    assert "mine" in after.content.decode()
    assert Lesson.objects.get(title="beta").takeaway == ""


def test_a_stale_edit_and_a_stale_decision_are_refused(client, drafts):
    first, second, _third = drafts
    edit(client, first, verb="save", what="theirs")
    refused = decide(client, first, "confirm")
    assert refused.status_code == 412 and current(refused) == "alpha"
    refused = edit(client, second, base_version="7", takeaway="mine")
    assert "not written yet" in refused.content.decode()  # what is stored stands above the boxes
    assert refused.status_code == 412 and 'name="seen_version"' in refused.content.decode()
    assert "mine" in refused.content.decode()
    assert Lesson.objects.get(title="beta").takeaway == ""
    edit(client, second, verb="save", base_version="7", takeaway="mine", seen_version="1")
    assert Lesson.objects.get(title="beta").takeaway == "mine"


def test_rejecting_needs_a_reason_and_other_verbs_are_none(client, drafts):
    for verb in ("reject", "", "archive"):
        assert decide(client, drafts[0], verb).status_code == 400
    assert states()["alpha"] == "draft"


def test_a_draft_decided_by_somebody_else_is_told_and_passed(client, drafts):
    Lesson.objects.filter(pk=drafts[0].pk).update(status="active")
    after = decide(client, drafts[0], "confirm")
    assert after.status_code == 200 and current(after) == "beta" and said(after)
    told = client.get(f"{DESK}?p={drafts[0].pk}", follow=True)
    assert said(told) == ["EXP-001 is no draft any more: it is active."]
    for asked in ("999999", "x", "9" * 30, "²"):
        assert said(client.get(f"{DESK}?p={asked}", follow=True)) == ["There is no such lesson."]


def test_what_is_put_off_waits_until_it_is_asked_for(client, drafts):
    before = list(Lesson.objects.values())
    after = client.post(f"{DESK}{drafts[0].pk}/later/", follow=True)
    assert (current(after), rows(after)) == ("beta", ["beta", "gamma"])
    assert "1 put off: show it again" in after.content.decode()
    for lesson in drafts[1:]:
        after = client.post(f"{DESK}{lesson.pk}/later/", follow=True)
    assert "Only what you put off is left." in after.content.decode()
    assert current(client.get(f"{DESK}?p={drafts[0].pk}")) == "alpha"
    assert rows(client.post(f"{DESK}again/", follow=True)) == ["alpha", "beta", "gamma"]
    assert list(Lesson.objects.values()) == before


def test_the_list_is_narrowed_and_stays_so(client, drafts):
    agent = drafts[2].agent_id
    for query, expected in {
        "severity=high": ["alpha"],
        "parts=complete": ["alpha", "gamma"],
        "parts=incomplete": ["beta"],
        f"agent={agent}": ["gamma"],
        "source=commit": [],
        "severity=x&source=x&parts=x&agent=x": ["alpha", "beta", "gamma"],
    }.items():
        assert rows(client.get(f"{DESK}?{query}")) == expected, query
    after = decide(client, drafts[0], "confirm", "?parts=complete")
    assert after.request["QUERY_STRING"] == f"parts=complete&p={drafts[2].pk}"


def test_only_the_own_companies_drafts_wait(signed_in, stranger, viewer, operator, drafts, rival):
    make_lesson(rival, NOW, "draft", title="theirs")
    assert rows(signed_in(stranger).get(DESK)) == ["theirs"]
    told = signed_in(stranger).get(f"{DESK}?p={drafts[0].pk}", follow=True)
    assert "alpha" not in told.content.decode()
    shown = signed_in(viewer).get(DESK).content.decode()
    assert "You can read this, but not decide about it" in shown and 'data-verb="confirm"' not in shown
    assert b"data-edit" in signed_in(operator).get(DESK).content


def test_who_may_not_decide_is_refused_whatever_they_send(
    signed_in, viewer, operator, stranger, client, drafts
):
    before = list(Lesson.objects.values())
    pk = drafts[0].pk
    values = {"verb": "confirm", "base_version": 1, "title": "mine", "reason": "r"}
    for person, expected in ((viewer, 403), (operator, 403), (stranger, 404)):
        theirs = signed_in(person)
        for route in ("decide", "edit"):
            assert theirs.post(f"{DESK}{pk}/{route}/", values).status_code == expected, route
    assert signed_in(stranger).post(f"{DESK}{pk}/later/").status_code == 404
    for route in ("decide", "edit", "later"):
        assert client.get(f"{DESK}{pk}/{route}/", values).status_code == 405
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(viewer)
    assert strict.post(f"{DESK}{pk}/later/").status_code == 403
    assert list(Lesson.objects.values()) == before


def test_an_editor_saves_and_does_not_confirm(signed_in, operator, drafts):
    editor = signed_in(operator)
    assert b"Save and confirm" not in editor.get(f"{DESK}?p={drafts[0].pk}&edit=yes").content
    edit(editor, drafts[0], verb="save", title="renamed")
    assert states()["renamed"] == "draft"


def test_the_start_page_says_how_many_drafts_wait(signed_in, approver, viewer, stranger, drafts):
    tile = signed_in(approver).get(START).context["tile"]
    assert (tile["drafts"], tile["may_confirm"]) == (3, True)
    assert "drafts of lessons to confirm" in signed_in(approver).get(START).content.decode()
    assert "drafts of lessons waiting" in signed_in(viewer).get(START).content.decode()
    assert signed_in(stranger).get(START).context["tile"]["drafts"] == 0


def test_the_agent_page_lists_its_lessons(signed_in, viewer, stranger, drafts):
    shown = signed_in(viewer).get(f"/admin/agents/agent/{drafts[2].agent_id}/change/").content.decode()
    assert "gamma" in shown and f"/admin/lessons/lesson/{drafts[2].pk}/change/" in shown
    assert "alpha" not in shown


@pytest.mark.parametrize("waiting", [2, 60])
def test_the_desk_costs_the_same_however_many_wait(
    client, signed_in, chief, acme, django_assert_num_queries, waiting
):
    agent = make_agent(acme)
    lessons = [make_lesson(acme, NOW, "draft", title=f"t {number}", agent=agent) for number in range(3)]
    Lesson.objects.bulk_create(
        Lesson(company=acme, agent=agent, number=number, title="x", date=NOW.date(), created_by="test")
        for number in range(10, 10 + waiting)
    )
    middle = f"{DESK}?p={lessons[1].pk}"
    for person, counts in ((client, (10, 11, 11)), (signed_in(chief), (7, 8, 8))):
        person.get(DESK)
        for url, count in zip((DESK, middle, f"{middle}&edit=yes"), counts, strict=True):
            with django_assert_num_queries(count):
                person.get(url)
    assert client.get(DESK).context["queue"].total == min(waiting + 3, COUNTED + 1)


def test_a_rule_that_names_no_rule_yet_leads_to_where_it_gets_one_and_back(signed_in, administrator, acme):
    agent = make_agent(acme, name="ops")
    lesson = make_lesson(acme, NOW, "draft", category="RULE-EXP", takeaway="Test first.", agent=agent)
    client = signed_in(administrator)
    make, choose = client.get(f"{DESK}?p={lesson.pk}").context["shown"].rule_ways
    assert choose[1] == f"/admin/lessons/lesson/{lesson.pk}/change/#id_rule_experience"
    values = form_values(client.get(make[1]))
    page = client.post(make[1], {**values, "agent": agent.pk}, follow=True)
    assert page.redirect_chain[-1][0] == f"{DESK}?p={lesson.pk}"
    shown = page.context["shown"]
    assert (shown.rule_ways, shown.can_confirm) == ([], True)
    assert shown.lesson.rule_experience.content == "Test first."


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"category": "RULE-EXP"}, ["Make it an experience", "Choose the experience or document"]),
        ({"category": "RULE-EXP", "takeaway": "x" * 301}, ["Choose the experience or document"]),
        ({"category": "PRACT-EXP"}, []),
    ],
    ids=["rule", "too long for an experience", "practice"],
)
def test_only_ways_to_a_rule_that_lead_somewhere_are_offered(
    signed_in, administrator, acme, fields, expected
):
    lesson = make_lesson(acme, NOW, "draft", **fields)
    page = signed_in(administrator).get(f"{DESK}?p={lesson.pk}")
    assert [str(name) for name, _url in page.context["shown"].rule_ways] == expected


def test_ways_to_a_rule_are_for_those_who_may_go_them(signed_in, viewer, acme):
    lesson = make_lesson(acme, NOW, "draft", category="RULE-EXP")
    assert signed_in(viewer).get(f"{DESK}?p={lesson.pk}").context["shown"].rule_ways == []
