"""The list of knowledge in the admin: what it shows, folds away and finds; decisions about several at once."""

from decimal import Decimal

import pytest
from django.utils import timezone

from common.receipts.models import Receipt
from evolution.knowledge.models import Knowledge
from evolution.knowledge.selectors.shown import shown_sha256
from evolution.parameters.services import Approval, set_parameter
from tests.factories import make_agent
from tests.knowledge.items import make_knowledge

pytestmark = pytest.mark.django_db
LIST = "/admin/knowledge/knowledge/"


def codes(response):
    return [item.code for item in response.context["cl"].result_list]


def states(*items):
    return [Knowledge.objects.get(pk=item.pk).status for item in items]


def bulk(client, action, items, **more):
    return client.post(
        LIST, {"action": action, "_selected_action": [item.pk for item in items], **more}, follow=True
    )


def test_drafts_come_first_by_confidence_and_the_weak_are_folded_away(signed_in, viewer, acme):
    make_knowledge(acme, "active", active=True)
    make_knowledge(acme, "weak", confidence="0.3")
    make_knowledge(acme, "good", confidence="0.8")
    make_knowledge(acme, "better", confidence="0.9")
    client = signed_in(viewer)
    shown = client.get(LIST)
    assert codes(shown) == ["k-004", "k-003", "k-001"]
    assert "1 draft of little confidence is folded away." in shown.content.decode()
    assert codes(client.get(LIST, {"drafts": "low"})) == ["k-002"]
    assert codes(client.get(LIST, {"drafts": "all"})) == ["k-004", "k-003", "k-002", "k-001"]


def test_what_is_folded_away_follows_the_parameter_of_the_company(signed_in, chief, acme, rival):
    approval = Approval("EP-000", "approver", "measured")
    set_parameter(
        company_id=acme.pk,
        name="harvest_threshold",
        value=0.95,
        expected=Decimal("0.7"),
        approval=approval,
        now=timezone.now(),
    )
    make_knowledge(acme, "mine", confidence="0.9")
    other = make_knowledge(rival, "theirs", confidence="0.9")
    assert [item.pk for item in signed_in(chief).get(LIST).context["cl"].result_list] == [other.pk]


def test_filters_and_search_find_what_they_name(signed_in, viewer, acme):
    agent = make_agent(acme, name="运维")
    make_knowledge(acme, "plain", active=True)
    make_knowledge(acme, "登录 fix", category="debugging", agent=agent, source_type="error_fix")
    off = make_knowledge(acme, "off", details="Needle")
    Knowledge.objects.filter(pk=off.pk).update(enabled=False)
    client = signed_in(viewer)
    for query, expected in {
        "status__exact=active": ["k-001"],
        "category__exact=debugging": ["k-002"],
        "source_type__exact=error_fix": ["k-002"],
        f"agent__id__exact={agent.pk}": ["k-002"],
        "company=acme": ["k-003", "k-002", "k-001"],
        "company=rival": [],
        "on=no": ["k-003"],
        "q=K-003": ["k-003"],
        "q=登录": ["k-002"],
        "q=needle": ["k-003"],
        "drafts=x": [],
    }.items():
        name, _, value = query.partition("=")
        assert codes(client.get(LIST, {name: value})) == expected, query


def test_the_list_costs_the_same_however_long_it_is(signed_in, viewer, acme, django_assert_num_queries):
    client = signed_in(viewer)
    make_knowledge(acme, agent=make_agent(acme))
    client.get(LIST)
    for number in range(2):
        with django_assert_num_queries(12):
            assert client.get(LIST).status_code == 200
        for more in range(4):
            make_knowledge(acme, f"t {number} {more}", confidence="0.9")


def test_several_drafts_are_activated_for_exactly_the_texts_shown(signed_in, approver, acme):
    items = [make_knowledge(acme, f"t{number}", summary=f"<b>{number}</b>") for number in range(2)]
    done = make_knowledge(acme, "done", active=True)
    client = signed_in(approver)
    page = bulk(client, "activate_chosen", [*items, done]).content.decode()
    assert "&lt;b&gt;1&lt;/b&gt;" in page and "It is active." in page
    digests = {f"sha256-{item.pk}": shown_sha256(item) for item in items}
    assert all(digest in page for digest in digests.values())
    Knowledge.objects.filter(pk=items[1].pk).update(summary="poison")
    bulk(client, "activate_chosen", items, confirmed="yes", **digests)
    assert states(*items) == ["active", "draft"]
    assert Receipt.objects.filter(trigger="knowledge_activated").count() == 2


def test_without_a_digest_nothing_is_activated(signed_in, approver, acme):
    item = make_knowledge(acme)
    bulk(signed_in(approver), "activate_chosen", [item], confirmed="yes")
    assert states(item) == ["draft"]


@pytest.mark.parametrize(
    ("action", "more", "state"),
    [
        ("deprecate_chosen", {"reason": "old"}, "deprecated"),
        ("deprecate_chosen", {"reason": " "}, "active"),
        ("archive_chosen", {}, "archived"),
        ("verify_chosen", {}, "active"),
    ],
)
def test_several_are_decided_at_once(signed_in, approver, acme, action, more, state):
    items = [make_knowledge(acme, f"t{number}", active=True) for number in range(2)]
    bulk(signed_in(approver), action, items, confirmed="yes", **more)
    assert states(*items) == [state, state]


def test_nothing_of_another_company_is_seen_or_decided(signed_in, stranger, acme):
    item = make_knowledge(acme, "canary")
    client = signed_in(stranger)
    assert codes(client.get(LIST, {"q": "canary"})) == []
    digest = {f"sha256-{item.pk}": shown_sha256(item)}
    bulk(client, "activate_chosen", [item], confirmed="yes", **digest)
    assert states(item) == ["draft"]
    assert client.get(f"{LIST}{item.pk}/activate/").status_code == 404
    assert client.post(f"{LIST}{item.pk}/switch/", {"on": "no"}).status_code == 404


def test_the_start_page_tells_of_the_drafts_that_wait(signed_in, approver, acme):
    for title, confidence in (("one", "0.7"), ("two", "0.9"), ("weak", "0.2")):
        make_knowledge(acme, title, confidence=confidence)
    assert "<b>2</b> drafts of knowledge to activate" in signed_in(approver).get("/admin/").content.decode()
