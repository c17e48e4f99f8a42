"""A finding is taken in once: a draft with its ledger, or another vote for what is known already."""

from decimal import Decimal

import pytest
from django.utils import timezone

from common.actors import Actor, Channel
from common.errors import ApplicationError
from common.receipts.models import Receipt
from common.search.models import SearchDocument
from evolution.knowledge.models import ConfidenceEvent, Knowledge
from evolution.knowledge.services import storing
from evolution.knowledge.services.deciding import activate
from evolution.knowledge.services.storing import add_knowledge
from tests.factories import SYSTEM, make_agent
from tests.knowledge.items import decision, key_actor

pytestmark = pytest.mark.django_db
SECRET = "AKIAIOSFODNN7EXAMPLE"


def add(company, title="Fix: null pointer", actor=SYSTEM, confidence="0.8", agent=None, **fields):
    values = {"title": title, "category": "debugging", **fields}
    return add_knowledge(
        company=company,
        agent=agent,
        fields=values,
        source_type="manual",
        confidence=Decimal(confidence),
        actor=actor,
        now=timezone.now(),
    )


def test_a_new_finding_is_a_draft_with_a_ledger_and_a_row_of_the_index(acme):
    before = Receipt.objects.count()
    item, created = add(acme, tags=["NPE"], summary="check first")
    assert created
    assert (item.code, item.order, item.status, item.confidence) == ("k-001", 0, "draft", Decimal("0.800"))
    event = ConfidenceEvent.objects.get(knowledge=item)
    assert (event.kind, event.before, event.delta, event.after) == (
        "created",
        Decimal("0"),
        Decimal("0.8"),
        Decimal("0.8"),
    )
    assert SearchDocument.objects.filter(kind="knowledge", object_id=item.pk, removed=False).exists()
    assert Receipt.objects.count() == before


@pytest.mark.parametrize("title", ["fix:  NULL   pointer", "Ｆｉｘ: null pointer", "Fix: Null Pointer\n"])
def test_the_same_title_and_category_verify_instead_of_doubling(acme, title):
    first, _ = add(acme)
    again, created = add(acme, title)
    assert (again.pk, created) == (first.pk, False)
    assert Knowledge.objects.get().confidence == Decimal("0.9")


def test_another_category_another_agent_and_an_archived_one_are_other_items(acme):
    first, _ = add(acme)
    assert add(acme, category="pattern")[1]
    Knowledge.objects.filter(pk=first.pk).update(status="archived")
    assert add(acme)[1]


def test_an_agent_does_not_repeat_what_holds_for_all(acme):
    everybodys, _ = add(acme)
    assert add(acme, agent=make_agent(acme)) == (everybodys, False)


def test_one_agent_s_finding_says_nothing_about_another(acme):
    add(acme, agent=make_agent(acme))
    assert add(acme, agent=make_agent(acme))[1]
    item, created = add(acme)
    assert created
    assert item.order == 0


def test_a_key_does_not_corroborate_what_it_reported_itself(acme):
    own, other = key_actor(acme), key_actor(acme)
    add(acme, actor=own, confidence="0.5")
    assert add(acme, actor=own)[0].confidence == Decimal("0.5")
    assert add(acme, actor=other)[0].confidence == Decimal("0.6")
    assert add(acme, actor=other)[0].confidence == Decimal("0.7")
    assert add(acme, actor=other)[0].confidence == Decimal("0.7")


def test_secrets_are_taken_out_before_the_first_write(acme):
    item, _ = add(acme, title=f"Key {SECRET}", summary=f"key {SECRET}", details=SECRET, references=[SECRET])
    stored = str(Knowledge.objects.filter(pk=item.pk).values().get())
    assert SECRET not in stored
    assert item.redactions == {"api_token": 4}
    assert SECRET not in str(list(SearchDocument.objects.values()))


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"category": "cooking"}, "/category"),
        ({"title": " \u200b"}, "/title"),
        ({"title": "x" * 201}, "/title"),
        ({"summary": "x" * 1001}, "/summary"),
        ({"details": "x" * 20_001}, "/details"),
        ({"tags": "flutter"}, "/tags"),
        ({"tags": ["x" * 41]}, "/tags/0"),
        ({"summary": "a\0b"}, "/summary"),
        ({"summary": 3}, "/summary"),
        ({"related": ["EP-001"]}, "/related/0"),
        ({"related": ["k-999"]}, "/related"),
    ],
)
def test_bad_input_is_one_clear_error_and_stores_nothing(acme, fields, pointer):
    with pytest.raises(ApplicationError) as refused:
        add(acme, **fields)
    assert refused.value.errors[0].pointer == pointer
    assert not Knowledge.objects.exists()


def test_related_goes_both_ways(acme):
    first, _ = add(acme)
    second, _ = add(acme, "Another", related=["k-001"])
    assert list(first.related.all()) == [second]
    assert list(second.related.all()) == [first]


def test_an_unknown_source_is_refused(acme):
    with pytest.raises(ApplicationError) as refused:
        add_knowledge(
            company=acme,
            agent=None,
            fields={"title": "t", "category": "pattern"},
            source_type="rumour",
            confidence=Decimal("0.7"),
            actor=Actor("x", Channel.API),
            now=timezone.now(),
        )
    assert refused.value.code == "VALIDATION_ERROR"


def test_a_flood_of_drafts_of_one_key_ends_and_others_go_on(acme, monkeypatch):
    """H9."""
    monkeypatch.setattr(storing, "MAX_DRAFTS_OF_KEY", 2)
    flooding, other = key_actor(acme), key_actor(acme)
    first, _ = add(acme, title="one", actor=flooding)
    add(acme, title="two", actor=flooding)
    with pytest.raises(ApplicationError) as refused:
        add(acme, title="three", actor=flooding)
    assert (refused.value.code, refused.value.extra) == ("STATE_CONFLICT", {"limit": 2})
    assert add(acme, title="one", actor=flooding)[0] == first
    assert add(acme, title="three", actor=other)[0].code == "k-003"
    activate(knowledge_id=first.pk, decision=decision())
    assert add(acme, title="four", actor=flooding)[1]
