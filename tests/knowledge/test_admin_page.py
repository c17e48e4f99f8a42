"""The page of an item: what it tells, editing through the service, the picture, verbs, its place, the agent's tab."""

from datetime import timedelta

import pytest
from django.utils import timezone

from evolution.knowledge.admin.timeline import timeline
from evolution.knowledge.models import ConfidenceEvent, Knowledge, LearningItem, Outcome
from evolution.knowledge.selectors.shown import shown_sha256
from evolution.knowledge.services.deciding import mislead
from evolution.knowledge.services.storing import add_knowledge
from tests.admin.pages import form_values, save, shown_messages
from tests.factories import SYSTEM, ApiClient, make_agent, make_key
from tests.knowledge.items import decision, make_knowledge

pytestmark = pytest.mark.django_db
LIST = "/admin/knowledge/knowledge/"


def page_of(item, verb="change"):
    return f"{LIST}{item.pk}/{verb}/"


def text_of(response):
    return response.content.decode()


def stored(item):
    return Knowledge.objects.get(pk=item.pk)


def test_the_page_tells_what_became_of_an_item(signed_in, viewer, acme):
    other = make_knowledge(acme, "other thing")
    item = make_knowledge(acme, active=True, related=[other.code])
    warning, _created = add_knowledge(
        company=acme,
        agent=None,
        fields={"title": "Anti-Pattern: x", "category": "anti-pattern"},
        source_type="outcomes",
        confidence=item.confidence,
        actor=SYSTEM,
        now=timezone.now(),
        anti_of=item,
    )
    Outcome.objects.create(
        company=acme,
        knowledge=item,
        code=item.code,
        result="failure",
        task="<i>deploy</i>",
        created_by="key:x",
        at=timezone.now(),
    )
    shown = text_of(signed_in(viewer).get(page_of(item)))
    for said in (
        "confirmed exactly this text on",
        "A warning about this item",
        "Anti-Pattern: x",
        "other thing",
        "&lt;i&gt;deploy&lt;/i&gt;",
        "failure 1",
        "unknown: it needs 5 outcomes",
    ):
        assert said in shown, said
    assert item.code in text_of(signed_in(viewer).get(page_of(warning)))


def test_a_harvested_item_shows_its_report(signed_in, viewer, acme):
    key = make_key(acme, ["report"])
    fix = {"error_type": "Timeout", "root_cause": "pool too small", "solution": "larger pool"}
    sent = {"source_type": "error_fix", "source_id": "e1", "metadata": fix, "priority": "P0"}
    assert ApiClient(key).post("learning-items", sent).status_code == 201
    item = make_knowledge(acme)
    Knowledge.objects.filter(pk=item.pk).update(source=LearningItem.objects.get())
    shown = text_of(signed_in(viewer).get(page_of(item)))
    assert "pool too small" in shown and "LQ-001" in shown


def test_an_edit_of_the_text_makes_it_a_draft_and_says_so_before_and_after(signed_in, operator, acme):
    item = make_knowledge(acme, active=True, summary="one")
    client = signed_in(operator)
    assert "it becomes a draft again" in text_of(client.get(page_of(item)))
    response = save(client, page_of(item), summary="two")
    assert "k-001 is a draft again: no agent is given it until somebody activates it." in shown_messages(
        response
    )
    assert (stored(item).summary, stored(item).status, stored(item).confirmed_sha256) == ("two", "draft", "")
    assert "Nobody has confirmed this text yet." in text_of(client.get(page_of(item)))


def test_what_was_not_touched_is_not_changed(signed_in, operator, acme):
    code = "  if x:\n    y\n"
    item = make_knowledge(
        acme, active=True, summary="a\nb", code_example=code, tags=["x", "y"], references=["#1"]
    )
    before = stored(item)
    save(signed_in(operator), page_of(item))
    assert (stored(item).version, stored(item).status) == (before.version, "active")
    save(signed_in(operator), page_of(item), confidence="0.85")
    assert (str(stored(item).confidence), stored(item).status) == ("0.850", "active")
    assert ConfidenceEvent.objects.latest("pk").kind == "set"


def test_a_fault_stands_beside_its_field(signed_in, operator, acme):
    item = make_knowledge(acme)
    response = save(signed_in(operator), page_of(item), summary="x" * 1001)
    errors = response.context["adminform"].form.errors
    assert list(errors) == ["summary"] and "remove 1" in errors["summary"][0]


def test_a_stale_save_stores_nothing_and_shows_both(signed_in, operator, acme):
    item = make_knowledge(acme, summary="one")
    client = signed_in(operator)
    values = form_values(client.get(page_of(item)))
    save(client, page_of(item), summary="theirs")
    response = client.post(page_of(item), {**values, "summary": "mine"})
    assert "What is stored now, and what you typed" in text_of(response)
    assert stored(item).summary == "theirs"
    save_again = {**values, "summary": "mine", "seen_version": stored(item).version}
    client.post(page_of(item), save_again)
    assert stored(item).summary == "mine"


def test_an_item_is_written_by_hand(signed_in, operator, acme):
    agent = make_agent(acme)
    save(
        signed_in(operator),
        f"{LIST}add/",
        company=acme.pk,
        agent=agent.pk,
        title="New",
        category="tooling",
        summary="s",
    )
    item = Knowledge.objects.get()
    assert (item.title, item.agent, item.status, item.source_type) == ("New", agent, "draft", "manual")


def test_activating_shows_the_text_and_confirms_exactly_that(signed_in, approver, acme):
    item = make_knowledge(acme, summary="read <me>")
    client = signed_in(approver)
    asked = client.get(page_of(item, "activate"))
    assert "read &lt;me&gt;" in text_of(asked) and "Empty: Tags" in text_of(asked)
    sent = form_values(asked)
    assert sent[f"sha256-{item.pk}"] == shown_sha256(item)
    Knowledge.objects.filter(pk=item.pk).update(summary="other")
    client.post(page_of(item, "activate"), sent)
    assert stored(item).status == "draft"
    client.post(page_of(item, "activate"), form_values(client.get(page_of(item, "activate"))))
    assert (stored(item).status, stored(item).confirmed_by) == ("active", approver.username)


@pytest.mark.parametrize(
    ("verb", "field", "value"),
    [
        ("verify", "confidence", "0.800"),
        ("deprecate", "status", "deprecated"),
        ("archive", "status", "archived"),
        ("disable", "enabled", "False"),
    ],
)
def test_a_verb_asks_and_then_does_it_once(signed_in, approver, acme, verb, field, value):
    item = make_knowledge(acme, active=True)
    client = signed_in(approver)
    sent = form_values(client.get(page_of(item, verb))) | {"reason": "because"}
    assert stored(item).version == item.version
    client.post(page_of(item, verb), sent)
    assert str(getattr(stored(item), field)) == value


def test_a_verb_asked_on_an_old_page_does_nothing(signed_in, approver, acme):
    item = make_knowledge(acme, active=True)
    client = signed_in(approver)
    sent = form_values(client.get(page_of(item, "archive"), {"v": item.version}))
    save(client, page_of(item), summary="new")
    client.post(page_of(item, "archive"), sent)
    assert stored(item).status == "draft"


def test_restore_brings_a_deprecated_item_back(signed_in, approver, acme):
    item = make_knowledge(acme, active=True)
    for _time in range(4):
        mislead(knowledge_id=item.pk, decision=decision())
    assert stored(item).status == "deprecated"
    client = signed_in(approver)
    client.post(page_of(item, "restore"), form_values(client.get(page_of(item, "restore"))))
    assert stored(item).status == "active"


def test_items_of_an_agent_are_moved_and_switched_in_its_tab(signed_in, operator, acme):
    agent = make_agent(acme)
    first, second = (make_knowledge(acme, title, agent=agent) for title in ("first", "second"))
    client = signed_in(operator)
    shown = text_of(client.get(f"/admin/agents/agent/{agent.pk}/change/"))
    assert shown.index(">first<") < shown.index(">second<") and 'id="knowledge-group"' in shown
    part = text_of(client.post(page_of(second, "move"), {"step": "-1"}, headers={"HX-Request": "true"}))
    assert part.index(">second<") < part.index(">first<") and "<html" not in part
    client.post(page_of(first, "switch"), {"on": "no"}, headers={"HX-Request": "true"})
    assert (stored(first).enabled, stored(first).order, stored(second).order) == (False, 1, 0)
    assert client.post(page_of(first, "move"), {"step": "-1"}).url == page_of(first)


def test_who_may_only_see_is_offered_no_switch(signed_in, viewer, acme):
    agent = make_agent(acme)
    make_knowledge(acme, "only", agent=agent)
    shown = text_of(signed_in(viewer).get(f"/admin/agents/agent/{agent.pk}/change/"))
    assert ">only<" in shown and "knowledge-switch" not in shown.replace("knowledge-switch {", "")


def test_the_picture_draws_each_event_of_the_ledger(signed_in, viewer, acme):
    item = make_knowledge(acme, now=timezone.now() - timedelta(days=60), active=True)
    mislead(knowledge_id=item.pk, decision=decision())
    events = list(ConfidenceEvent.objects.of_item(item.pk))
    drawn = timeline(events, item.confidence, timezone.now())
    assert [dot.way for dot in drawn.dots] == ["up", "same", "down"]
    assert (drawn.dots[0].x, drawn.dots[0].y, drawn.threshold_y) == (40.0, 73.6, 73.6)
    shown = text_of(signed_in(viewer).get(page_of(item)))
    assert shown.count('<g class="dot ') == 3 and 'role="img"' in shown and "misleading −0.20 → 0.50" in shown


def test_a_ledger_that_is_empty_has_no_picture():
    assert timeline([], None, timezone.now()) is None


@pytest.mark.parametrize("room", ["injection", "outcome", "confidenceevent"])
def test_what_happened_is_listed(signed_in, viewer, acme, room):
    make_knowledge(acme, active=True)
    response = signed_in(viewer).get(f"/admin/knowledge/{room}/")
    assert response.status_code == 200
