"""POST /outcomes: what using items really brought, through the API."""

from decimal import Decimal

import pytest
from django.utils import timezone

from common.receipts.models import Receipt
from evolution.knowledge.models import CausalScore, ConfidenceEvent, Injection, Knowledge, Outcome
from evolution.knowledge.selectors.causal import causal_scores
from evolution.knowledge.services.outcomes import refresh_scores
from evolution.knowledge.services.warning import warn_of_misleading
from tests.factories import SYSTEM, ApiClient, make_agent, make_key
from tests.knowledge.items import make_knowledge

pytestmark = pytest.mark.django_db


@pytest.fixture
def runtime(acme):
    return ApiClient(make_key(acme, ["read", "report"]))


def report(client, item, task="", status=201, key=None, **fields):
    named = {"knowledge": item.code} if isinstance(item, Knowledge) else {"injection_id": str(item)}
    headers = {"Idempotency-Key": key} if key else {}
    answer = client.post("outcomes", {**named, "result": "success", "task": task, **fields}, **headers)
    assert answer.status_code == status, answer.content
    return answer.json()


def told(client, item, count, **fields):
    """The answer to the last of `count` outcomes, each for a task of its own."""
    return [report(client, item, f"task {number}", **fields) for number in range(count)][-1]


@pytest.mark.parametrize(
    ("count", "fields", "score", "warns"),
    [
        (5, {"time_saved_minutes": 15}, 0.575, False),
        (10, {"time_saved_minutes": 60}, 0.8, False),
        (5, {"result": "failure"}, 0.0, True),
        (5, {"result": "failure", "bugs_introduced": 3}, -0.2, True),
        (4, {}, None, False),
    ],
)
def test_the_golden_rows(acme, runtime, count, fields, score, warns):
    item = make_knowledge(acme, confidence="0.9", active=True)
    answer = told(runtime, item, count, **fields)
    assert answer["items"][0]["causal_score"] == score
    assert Knowledge.objects.filter(anti_of=item).count() == int(warns)
    assert bool(answer["anti_knowledge"]) is warns


@pytest.mark.parametrize(("result", "after"), [("success", 0.75), ("failure", 0.5), ("partial", 0.7)])
def test_a_result_moves_the_confidence(acme, runtime, result, after):
    item = make_knowledge(acme)
    before = Receipt.objects.count()
    answer = report(runtime, item, result=result)
    assert answer["items"][0] == {
        "id": item.code,
        "confidence": after,
        "status": "draft",
        "causal_score": None,
    }
    outcome = Outcome.objects.get()
    events = ConfidenceEvent.objects.filter(knowledge=item, source_id=f"outcome:{outcome.pk}")
    assert events.count() == (result != "partial")
    assert Receipt.objects.count() == before + 1
    assert (Knowledge.objects.get(pk=item.pk).applied_at is not None) is (result == "success")


def test_an_outcome_is_stored_without_secrets_and_listed(acme, runtime):
    item = make_knowledge(acme)
    secret = "mail bob@example.com"
    report(runtime, item, f"deploy {secret}", notes=secret, time_saved_minutes=-5, bugs_introduced=1000)
    listed = runtime.get(f"knowledge/{item.code}/outcomes").json()["results"][0]
    assert (listed["time_saved_minutes"], listed["bugs_introduced"], listed["knowledge"]) == (
        -5,
        1000,
        item.code,
    )
    assert "bob@" not in str(listed) and "[REDACTED:email]" in listed["task"]


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"result": "great"}, "/result"),
        ({"result": None}, "/result"),
        ({"task": "x" * 201}, "/task"),
        ({"bugs_introduced": 1001}, "/bugs_introduced"),
        ({"bugs_introduced": -1}, "/bugs_introduced"),
        ({"time_saved_minutes": 1.5}, "/time_saved_minutes"),
        ({"notes": "a\u0000b"}, ""),
        ({"injection_id": "a1"}, "/knowledge"),
        ({"knowledge": None}, "/knowledge"),
    ],
)
def test_bad_fields_are_named_and_change_nothing(acme, runtime, fields, pointer):
    item = make_knowledge(acme)
    answer = report(runtime, item, status=400, **fields)
    assert pointer in [error["pointer"] for error in answer.get("errors", [])] or not pointer
    assert not Outcome.objects.exists()


def test_what_is_not_there_is_a_404(acme, runtime, rival):
    foreign = [make_knowledge(rival, f"item {number}") for number in range(2)][1]
    bound = ApiClient(make_key(acme, ["read", "report"], agent_id=make_agent(acme).pk))
    of_other_agent = make_knowledge(acme, agent=make_agent(acme))
    for client, named in [
        (runtime, {"knowledge": "k-999"}),
        (runtime, {"knowledge": "nonsense"}),
        (runtime, {"knowledge": foreign.code}),
        (runtime, {"injection_id": "nonsense"}),
        (runtime, {"injection_id": "3f0e6f1e-0000-4000-8000-000000000000"}),
        (bound, {"knowledge": of_other_agent.code}),
    ]:
        assert client.post("outcomes", {**named, "result": "success"}).status_code == 404
    assert runtime.get(f"knowledge/{foreign.code}/outcomes").status_code == 404
    assert not Outcome.objects.exists()


def test_reporting_needs_its_scope(acme, reader):
    report(reader, make_knowledge(acme), status=403)


def test_an_injection_means_its_items_to_use_and_none_to_avoid(acme, runtime):
    use, avoid = make_knowledge(acme, "use"), make_knowledge(acme, "avoid", category="anti-pattern")
    items = [
        {"id": use.code, "kind": "use"},
        {"id": avoid.code, "kind": "avoid"},
        {"id": "k-999", "kind": "use"},
    ]
    row = Injection.objects.create(company=acme, items=items, item_count=3, created_at=timezone.now())
    answer = report(runtime, row.injection_id)
    assert [outcome["knowledge"] for outcome in answer["outcomes"]] == [use.code]
    assert answer["outcomes"][0]["injection_id"] == str(row.injection_id)
    assert Outcome.objects.get().injection == row


def test_sent_twice_it_counts_once(acme, runtime):
    item = make_knowledge(acme)
    first = report(runtime, item, "t", key="a")
    assert report(runtime, item, "t", key="a") == first
    report(runtime, item, "t", key="a", result="failure", status=409)
    assert Outcome.objects.count() == 1


def test_the_row_itself_remembers_the_key_when_the_answer_is_forgotten(acme, runtime):
    from common.idempotency.models import IdempotentRequest

    item = make_knowledge(acme)
    report(runtime, item, "t", key="a")
    IdempotentRequest.objects.all().delete()
    report(runtime, item, "t", key="a")
    IdempotentRequest.objects.all().delete()
    report(runtime, item, "t", key="a", result="failure", status=409)
    assert (Outcome.objects.count(), Knowledge.objects.get(pk=item.pk).confidence) == (1, Decimal("0.75"))


def test_one_key_alone_proves_little(acme, runtime):
    item = make_knowledge(acme, confidence="0.5")
    for number in range(25):
        report(runtime, item, f"task {number % 22}")
    stored = Knowledge.objects.get(pk=item.pk)
    assert (stored.confidence, stored.status) == (Decimal("0.7"), "draft")
    assert CausalScore.objects.get(knowledge=item).samples == 20


def test_a_warning_is_made_once_and_linked_both_ways(acme, runtime):
    item = make_knowledge(acme, "Cache everything", tags=["cache"], confidence="0.9", active=True)
    answer = told(runtime, item, 5, result="failure")
    warning = Knowledge.objects.get(anti_of=item)
    assert answer["anti_knowledge"] == [warning.code]
    assert (warning.title, warning.category, warning.status, warning.source_type) == (
        "Anti-Pattern: Cache everything",
        "anti-pattern",
        "draft",
        "outcomes",
    )
    assert (warning.confidence, warning.tags) == (Decimal("0.85"), ["cache"])
    assert "5 次使用中成功 0 次" in warning.summary
    assert set(item.related.all()) == {warning} and set(warning.related.all()) == {item}
    assert report(runtime, item, "again", result="failure")["anti_knowledge"] == []
    Knowledge.objects.filter(pk=warning.pk).update(status="archived", anti_of=None)
    assert report(runtime, item, "and again", result="failure")["anti_knowledge"] == []
    assert Knowledge.objects.count() == 2


def test_two_items_of_one_title_have_a_warning_each(acme, runtime):
    items = [make_knowledge(acme, "Cache", category=category) for category in ("pattern", "tooling")]
    for item in items:
        told(runtime, item, 5, result="failure")
    warned = Knowledge.objects.exclude(anti_of=None).order_by("pk")
    assert [(one.title, one.anti_of_id) for one in warned] == [
        ("Anti-Pattern: Cache", items[0].pk),
        (f"Anti-Pattern: Cache ({items[1].code})", items[1].pk),
    ]


def test_a_warning_is_not_warned_of(acme, runtime):
    item = make_knowledge(acme, category="anti-pattern")
    assert told(runtime, item, 5, result="failure")["anti_knowledge"] == []


def test_a_sweep_finds_what_a_new_parameter_makes_misleading(acme, runtime):
    from evolution.parameters.models import Parameter

    item = make_knowledge(acme)
    told(runtime, item, 3, result="failure")
    now = timezone.now()
    assert warn_of_misleading(company=acme, actor=SYSTEM, now=now) == []
    Parameter.objects.create(company=acme, name="causal_min_samples", value=3)
    assert [one.anti_of_id for one in warn_of_misleading(company=acme, actor=SYSTEM, now=now)] == [item.pk]
    assert warn_of_misleading(company=acme, actor=SYSTEM, now=now) == []


def test_outcomes_in_quarantine_count_for_nothing(acme, runtime):
    item = make_knowledge(acme)
    told(runtime, item, 5)
    Outcome.objects.filter(task="task 0").update(quarantined_at=timezone.now())
    refresh_scores(company_id=acme.pk, ids=[item.pk])
    assert causal_scores(acme.pk, [item.pk]) == {item.pk: None}
    assert CausalScore.objects.get(knowledge=item).samples == 4


def test_what_is_kept_is_what_the_outcomes_say(acme, runtime):
    items = [make_knowledge(acme, f"title {number}") for number in range(3)]
    for item, minutes in zip(items, (0, 7, 31), strict=True):
        told(runtime, item, 5, time_saved_minutes=minutes)
    kept = {row.knowledge_id: row.score for row in CausalScore.objects.all()}
    assert kept == causal_scores(acme.pk, [item.pk for item in items])


@pytest.mark.parametrize(("language", "said"), [("zh", "不要依赖 k-001"), ("en", "Do not rely on k-001")])
def test_a_warning_speaks_the_language_of_its_agent(acme, language, said):
    agent = make_agent(acme, language=language)
    item = make_knowledge(acme, agent=agent, active=True)
    client = ApiClient(make_key(acme, ["read", "report"]))
    for number in range(5):
        body = {"knowledge": item.code, "task": f"t{number}", "result": "failure"}
        assert client.post("outcomes", body).status_code == 201
    assert Knowledge.objects.get(anti_of=item).summary.startswith(said)
