"""/knowledge: a key reports and finds, staff decide, nobody sees what is not theirs."""

from datetime import UTC, datetime

import pytest

from common.receipts.models import Receipt
from evolution.knowledge.models import Knowledge
from tests.factories import ApiClient, make_agent, make_key
from tests.knowledge.items import key_actor, make_knowledge
from tests.lessons.people import Staff

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 6, 12, 4, 0, tzinfo=UTC)


@pytest.fixture
def runtime(acme):
    return ApiClient(make_key(acme, scopes=["read", "report"]))


@pytest.fixture
def staff(approver):
    return Staff(approver)


@pytest.fixture
def editor(operator):
    return Staff(operator)


def problem(answer, status, code):
    """The problem document of a refusal."""
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.content.decode()
    return answer.json()


def ids(answer):
    assert answer.status_code == 200, answer.content.decode()
    return [row["id"] for row in answer.json()["results"]]


def test_a_report_becomes_a_draft_and_the_same_again_is_the_same_item(runtime):
    body = {
        "title": " Fix:\nNPE ",
        "category": "debugging",
        "tags": ["a", "A"],
        "status": "active",
        "confidence": 1,
    }
    first = runtime.post("knowledge", body)
    row = first.json()
    assert (first.status_code, row["id"], row["title"], row["status"]) == (201, "k-001", "Fix: NPE", "draft")
    assert (row["confidence"], row["tags"], row["source_type"]) == (0.7, ["a"], "conversation")
    again = runtime.post("knowledge", body)
    assert (again.status_code, again.json()["id"], again.json()["confidence"]) == (200, "k-001", 0.7)
    assert first.headers["ETag"] == '"1"'


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"title": "t", "category": "cooking"}, "/category"),
        ({"title": "t", "category": None}, "/category"),
        ({"title": "", "category": "pattern"}, "/title"),
        ({"title": "t", "category": "pattern", "source_type": "rumour"}, "/source_type"),
        ({"title": "t", "category": "pattern", "source_type": "import"}, "/source_type"),
        ({"title": "t", "category": "pattern", "details": "x" * 20_001}, "/details"),
    ],
)
def test_bad_input_is_one_clear_error(runtime, body, pointer):
    answer = runtime.post("knowledge", body)
    assert problem(answer, 400, "VALIDATION_ERROR")["errors"][0]["pointer"] == pointer
    assert not Knowledge.objects.exists()


def test_staff_activate_what_they_read_and_a_changed_text_waits_again(runtime, staff):
    row = runtime.post("knowledge", {"title": "t", "category": "pattern"}).json()
    runtime.patch("knowledge/k-001", {"summary": "other"})
    stale = staff.post("knowledge/k-001/activate", {"shown_hash": row["shown_hash"]})
    problem(stale, 409, "STATE_CONFLICT")
    shown = staff.get("knowledge/k-001").json()["shown_hash"]
    done = staff.post("knowledge/K-001/activate", {"shown_hash": shown}).json()
    assert (done["status"], done["confirmed_by"], done["confirmed_sha256"]) == ("active", "approver", shown)
    edited = staff.patch("knowledge/k-001", {"summary": "third"}).json()
    assert (edited["status"], edited["confirmed_sha256"]) == ("draft", "")


@pytest.mark.parametrize("verb", ["activate", "deprecate", "restore"])
def test_neither_keys_nor_editors_decide(acme, runtime, editor, verb):
    make_knowledge(acme)
    problem(runtime.post(f"knowledge/k-001/{verb}", {}), 403, "SCOPE_MISSING")
    problem(editor.post(f"knowledge/k-001/{verb}", {}), 403, "PERMISSION_DENIED")


@pytest.mark.parametrize(("verb", "after"), [("verify", 0.8), ("reference", 0.75), ("mislead", 0.5)])
def test_a_vote_counts_once_a_key_of_the_request(acme, staff, verb, after):
    make_knowledge(acme, active=True)
    before = Receipt.objects.count()
    for _time in range(2):
        answer = staff.post(f"knowledge/k-001/{verb}", {"idempotency_key": "one"})
        assert answer.json()["confidence"] == after
    assert Receipt.objects.count() == before + 1


def test_a_key_s_vote_for_its_own_report_is_refused(acme, runtime):
    runtime.post("knowledge", {"title": "t", "category": "pattern"})
    problem(runtime.post("knowledge/k-001/verify", {}), 409, "STATE_CONFLICT")
    make_knowledge(acme, "another's", actor=key_actor(acme))
    assert runtime.post("knowledge/k-002/verify", {}).json()["confidence"] == 0.8


def test_staff_set_switch_order_links_and_confidence(acme, staff):
    for title in "abc":
        make_knowledge(acme, title, active=True)
    answer = staff.patch(
        "knowledge/k-003", {"enabled": False, "order": 0, "related": ["k-001"], "confidence": 0.9}
    ).json()
    assert (answer["enabled"], answer["order"], answer["related"]) == (False, 0, ["k-001"])
    assert (answer["confidence"], answer["status"]) == (0.9, "active")
    assert staff.get("knowledge/k-001").json()["related"] == ["k-003"]
    assert list(Knowledge.objects.order_by("order").values_list("title", "order")) == [
        ("c", 0),
        ("a", 1),
        ("b", 2),
    ]


def test_a_stale_etag_is_refused(acme, staff):
    make_knowledge(acme)
    staff.patch("knowledge/k-001", {"summary": "one"})
    answer = staff.patch("knowledge/k-001", {"summary": "two"}, if_match='"1"')
    problem(answer, 412, "VERSION_MISMATCH")


def test_another_company_s_item_is_not_there(acme, rival, staff, runtime):
    make_knowledge(rival)
    for client in (staff, runtime):
        problem(client.get("knowledge/k-001"), 404, "NOT_FOUND")
    problem(staff.post("knowledge/k-001/activate", {}), 404, "NOT_FOUND")
    assert ids(runtime.get("knowledge")) == []


def test_a_key_of_one_agent_sees_its_own_and_the_company_s(acme):
    mine, others = make_agent(acme), make_agent(acme)
    for title, agent in (("mine", mine), ("theirs", others), ("ours", None)):
        make_knowledge(acme, title, agent=agent, active=True)
    bound = ApiClient(make_key(acme, scopes=["read", "report"], agent_id=mine.pk))
    assert ids(bound.get("knowledge")) == ["k-003", "k-001"]
    assert ids(bound.get("knowledge?q=theirs")) == []
    problem(bound.get("knowledge/k-002"), 404, "NOT_FOUND")


def found(client, query, **filters):
    more = "".join(f"&{name}={value}" for name, value in filters.items())
    answer = client.get(f"knowledge?q={query}{more}")
    return [(row["id"], row["coverage"]) for row in answer.json()["results"]]


def test_search_goes_by_coverage_then_confidence_then_number(acme, runtime):
    make_knowledge(acme, "Flutter state", tags=["stacked"], active=True)
    make_knowledge(acme, "Flutter widgets", confidence="0.9", active=True)
    make_knowledge(acme, "Dart state", confidence="0.9", active=True)
    make_knowledge(acme, "Flutter", summary="state machines", active=True)
    make_knowledge(acme, "Nothing of it", details="flutter state", active=True)
    assert found(runtime, "flutter+state") == [("k-001", 1.0), ("k-004", 1.0), ("k-002", 0.5), ("k-003", 0.5)]
    assert found(runtime, "stacked") == [("k-001", 1.0)]
    assert len(found(runtime, "pattern")) == 5
    assert found(runtime, "%E7%9A%84") == []


def test_search_finds_chinese(acme, runtime):
    make_knowledge(acme, "状态管理", summary="用 Stacked 架构", active=True)
    assert found(runtime, "状态") == [("k-001", 1.0)]


def test_a_search_hands_out_only_what_may_be_handed_out_unless_asked(acme, runtime, staff):
    make_knowledge(acme, "state draft")
    make_knowledge(acme, "state off", active=True)
    make_knowledge(acme, "state low", confidence="0.6", active=True)
    staff.patch("knowledge/k-002", {"enabled": False})
    staff.post("knowledge/k-003/mislead", {})
    assert found(runtime, "state") == []
    assert found(runtime, "state", status="draft") == [("k-001", 1.0)]
    assert found(runtime, "state", status="active") == [("k-002", 1.0)]
    assert found(runtime, "state", status="deprecated", category="pattern") == [("k-003", 1.0)]
    problem(runtime.get("knowledge?status=lost"), 400, "VALIDATION_ERROR")


def test_a_changed_confidence_changes_the_order_at_once(acme, runtime, staff):
    for title in ("state one", "state two"):
        make_knowledge(acme, title, active=True)
    staff.post("knowledge/k-002/verify", {})
    assert [code for code, _coverage in found(runtime, "state")] == ["k-002", "k-001"]


def test_known_issues_are_one_line_each_and_no_draft(acme, runtime):
    parts = {"category": "debugging", "summary": "check it"}
    make_knowledge(acme, "Fix: draft", **parts)
    details = "### Root cause\nno\ncheck\n\n### Solution\ncheck | it"
    make_knowledge(acme, "Fix: NPE", now=NOW, details=details, active=True, **parts)
    make_knowledge(acme, "By hand", now=NOW, active=True, **parts)
    rows = runtime.get("knowledge/known-issues").json()["results"]
    assert [row["text"] for row in rows] == [
        "2026-06-12 | By hand | - | check it (k-003)",
        "2026-06-12 | NPE | no check | check \\| it (k-002)",
    ]
    assert rows[1]["solution"] == "check | it"


def test_a_code_of_thousands_of_digits_names_nothing(runtime):
    body = {"title": "t", "category": "pattern", "related": [f"k-{'1' * 5000}"]}
    refused = problem(runtime.post("knowledge", body), 400, "VALIDATION_ERROR")
    assert [fault["pointer"] for fault in refused["errors"]] == ["/related/0"]
