"""/lessons: a key reports drafts, staff complete them, everybody finds them again."""

import json
from datetime import date

import pytest
from django.utils import timezone

from common.receipts.models import Receipt
from common.redaction import redact
from common.search.models import SearchDocument
from evolution.lessons.models import Lesson, LessonKey
from evolution.lessons.services import storing
from tests.factories import ApiClient, make_agent, make_key
from tests.lessons.people import COMPLETE, Staff, make_lesson, problem

pytestmark = pytest.mark.django_db
NOW = timezone.now()


@pytest.fixture
def runtime(acme):
    return ApiClient(make_key(acme, scopes=["read", "report"]))


@pytest.fixture
def staff(operator):
    return Staff(operator)


def report(client, **fields):
    answer = client.post("lessons", {"title": "x", **fields})
    assert answer.status_code == 201, answer.content.decode()
    return answer.json()


def codes(answer):
    assert answer.status_code == 200, answer.content.decode()
    return [row["code"] for row in answer.json()["results"]]


def test_a_report_becomes_a_draft_with_its_fields_as_they_are_kept(runtime):
    answer = runtime.post(
        "lessons",
        {
            **COMPLETE,
            "title": "  Login\nfails  ",
            "what": "one\r\ntwo ",
            "tags": ["API", "ａｐｉ", " ", "db"],
            "related_files": ["./src//a.py", "src\\b.py", "", "src/a.py", "docs/"],
            "checklist": ["first", {"text": "second", "done": True}],
            "expiresOn": "2026-12-12",
            "status": "active",
            "number": 77,
        },
    )
    draft = answer.json()
    assert (answer.status_code, draft["code"], draft["status"], draft["source"]) == (
        201,
        "EXP-001",
        "draft",
        "api",
    )
    assert (draft["title"], draft["what"], draft["tags"]) == ("Login fails", "one\ntwo", ["API", "db"])
    assert draft["related_files"] == ["src/a.py", "src/b.py", "docs/"]
    assert draft["checklist"] == [{"text": "first", "done": False}, {"text": "second", "done": True}]
    assert (draft["missing"], draft["expires_on"]) == (["checklist"], "2026-12-12")
    assert (draft["type"], draft["severity"], draft["category"]) == ("bug-fix", "medium", "PRACT-EXP")
    assert draft["date"] == timezone.localdate().isoformat()
    assert answer.headers["ETag"] == '"1"'
    assert runtime.get("lessons/EXP-001").json() == draft
    assert not Receipt.objects.filter(trigger__startswith="lesson").exists()


def test_secrets_never_reach_the_database_whatever_field_they_are_in(runtime):
    token = "ghp_" + "a1B2c3D4e5" * 4
    texts = ("title", "trigger", "what", "when", "how", "takeaway")
    draft = report(
        runtime,
        **dict.fromkeys(texts, f"see {token} or me@example.com"),
        tags=[f"t {token}"[:40]],
        related_files=[f"keys/{token}/x.py", "users/me@example.com/x.md"],
        references=[f"https://u:{token}@host/x"],
        checklist=[f"rotate {token}"],
    )
    dump = json.dumps([draft, list(Lesson.objects.values()), list(LessonKey.objects.values())], default=str)
    assert token not in dump
    assert draft["redactions"]["api_token"] >= 8
    assert draft["related_files"][1] == "users/me@example.com/x.md"
    runtime.patch(f"lessons/{draft['code']}", {"what": f"again {token}"})
    assert token not in Lesson.objects.get().what


def test_without_the_redaction_the_secret_would_be_stored(runtime, monkeypatch):
    """Control."""
    monkeypatch.setattr(storing, "redact", lambda text: type(redact(""))(text))
    assert "me@example.com" in report(runtime, what="me@example.com")["what"]


@pytest.mark.parametrize(
    ("field", "value", "pointer"),
    [
        ("title", " \u200b", "/title"),
        ("title", "字" * 201, "/title"),
        ("title", 5, "/title"),
        ("type", "奇怪", "/type"),
        ("category", "HOUSE-EXP", "/category"),
        ("severity", None, "/severity"),
        ("date", "someday", "/date"),
        ("trigger", "x" * 201, "/trigger"),
        ("tags", [f"t{n}" for n in range(21)], "/tags"),
        ("tags", ["x" * 41], "/tags/0"),
        ("tags", "a,b", "/tags"),
        ("related_files", [f"f{n}" for n in range(201)], "/related_files"),
        ("related_files", ["x" * 501], "/related_files/0"),
        ("what", "字" * 10_001, "/what"),
        ("takeaway", "x" * 2001, "/takeaway"),
        ("checklist", [{"text": "x" * 301}], "/checklist/0/text"),
        ("checklist", ["ok", {"done": True}], "/checklist/1/text"),
        ("checklist", [{"text": "x", "done": "yes"}], "/checklist/0/done"),
        ("related", ["EXP-1"], "/related/0"),
        ("supersedes", "EP-001", "/supersedes"),
        ("signal", "unexpected-success", "/signal"),
        ("expires_on", "never", "/expires_on"),
        ("references", ["x" * 501], "/references/0"),
    ],
)
def test_bad_input_is_one_clear_refusal_and_stores_nothing(runtime, field, value, pointer):
    answer = runtime.post("lessons", {"title": "x", field: value})
    status, code, pointers = problem(answer)
    assert (status, code) == (400, "VALIDATION_ERROR")
    assert pointer in pointers
    assert not Lesson.objects.exists()


@pytest.mark.parametrize("body", [b'{"title": "a\\u0000b"}', b'{"title": "a", "x\\u0000": 1}', b"[]", b"{"])
def test_what_no_database_stores_is_refused(runtime, body):
    assert runtime.post("lessons", body).status_code == 400
    assert not Lesson.objects.exists()


def test_a_limit_says_limit_size_and_how_much_to_remove(runtime):
    answer = runtime.post("lessons", {"title": "字" * 203}, accept_language="en")
    assert "200" in answer.json()["detail"]
    assert "203" in answer.json()["detail"]
    assert "remove 3" in answer.json()["detail"]
    assert report(runtime, title="😀" * 200)["title"] == "😀" * 200


def test_the_same_report_sent_twice_is_one_draft(runtime):
    first, again = (runtime.post("lessons", COMPLETE, idempotency_key="k1") for _ in range(2))
    assert first.json() == again.json()
    other = runtime.post("lessons", {"title": "other"}, idempotency_key="k1")
    assert problem(other)[:2] == (409, "IDEMPOTENCY_KEY_REUSED")
    assert Lesson.objects.count() == 1


def test_numbers_are_never_used_again_and_companies_count_apart(runtime, approver, rival_writer):
    assert [report(runtime)["code"] for _ in range(2)] == ["EXP-001", "EXP-002"]
    assert Staff(approver).delete("lessons/EXP-002").status_code == 204
    assert report(runtime)["code"] == "EXP-003"
    assert report(rival_writer)["code"] == "EXP-001"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "lessons/EXP-001"),
        ("GET", "lessons/EXP-001/markdown"),
        ("PATCH", "lessons/EXP-001"),
    ],
)
def test_another_company_s_lesson_is_not_there(acme, rival_writer, method, path):
    make_lesson(acme, NOW)
    answer = rival_writer.request(method, path, {"title": "mine"})
    assert problem(answer)[:2] == (404, "NOT_FOUND")
    assert codes(rival_writer.get("lessons")) == []
    assert rival_writer.get("lessons/index").json()["total"] == 0


def test_what_a_lesson_names_must_be_visible(acme, rival, runtime):
    foreign = make_agent(rival, rows=["x"], documents=[("principles.md", "x")])
    row, document = foreign.experiences.get().pk, foreign.documents.get().pk
    for _ in range(2):
        make_lesson(rival, NOW)
    for fields in (
        {"agent": foreign.pk},
        {"rule_experience": row},
        {"rule_document": document},
        {"supersedes": "EXP-002"},
    ):
        assert runtime.post("lessons", {"title": "x", **fields}).status_code == 404
    assert not Lesson.objects.of_company(acme).exists()
    own = make_agent(acme, rows=["x"], documents=[("principles.md", "x")])
    draft = report(runtime, rule_experience=own.experiences.get().pk, rule_document=own.documents.get().pk)
    assert draft["rule_experience"] == own.experiences.get().pk


def test_a_related_lesson_that_is_not_there_is_kept_as_a_reference_and_links_are_mutual(acme, runtime):
    make_lesson(acme, NOW)
    draft = report(runtime, related=["EXP-001", "EXP-016"], references=["#12"])
    assert (draft["related"], draft["references"]) == (["EXP-001"], ["#12", "EXP-016"])
    assert runtime.get("lessons/EXP-001").json()["related"] == [draft["code"]]


def test_a_key_bound_to_an_agent_sees_its_lessons_and_those_of_all(acme, runtime):
    mine, other = make_agent(acme), make_agent(acme)
    bound = ApiClient(make_key(acme, scopes=["read", "report"], agent_id=mine.pk))
    for agent in (None, mine, other):
        make_lesson(acme, NOW, agent=agent)
    assert codes(bound.get("lessons")) == ["EXP-002", "EXP-001"]
    assert [row["id"] for row in bound.get("lessons/index").json()["experiences"]] == ["EXP-001", "EXP-002"]
    for path in ("lessons/EXP-003", "lessons/EXP-003/markdown"):
        assert bound.get(path).status_code == 404
    assert report(bound)["agent"] == mine.pk
    assert bound.post("lessons", {"title": "x", "agent": other.pk}).status_code == 404
    assert bound.patch("lessons/EXP-004", {"agent": other.pk}).status_code == 404
    assert bound.patch("lessons/EXP-004", {"agent": None}).json()["agent"] == mine.pk
    assert codes(runtime.get(f"lessons?agent={other.pk}")) == ["EXP-003"]


def test_filters(acme, runtime, approver):
    agent = make_agent(acme)
    make_lesson(acme, NOW, date=date(2026, 1, 1))
    make_lesson(acme, NOW, tags=["ＤＢ"], related_files=["src/db/x.py"], severity="high", title="Ключ")
    make_lesson(acme, NOW, status="draft", category="INCIDENT-EXP", agent=agent, type="refactor", tags=[])
    make_lesson(
        acme, NOW, category="CALIB-EXP", title="路径不匹配", related_files=["lib/y.py"], what="Say HELLO"
    )
    Staff(approver).post("lessons/EXP-004/archive")
    expected = {
        "status=draft": [3],
        "status=archived": [4],
        "severity=high": [2],
        "category=CALIB-EXP": [4],
        "type=refactor": [3],
        "tag=db": [2],
        "tag=schema&tag=artifact-bus": [1, 4],
        "file=src/a.py": [3, 1],
        "file=./docs/new/z.md": [3, 1],
        "file=src/": [3, 2, 1],
        "file=a.py": [],
        f"agent={agent.pk}": [3],
        "q=ключ": [2],
        "q=hello say": [4],
        "q=不匹配": [4, 3, 1],
        "q=EXP-002": [2],
        "q=100%25": [],
        "expiring_before=2026-07-01": [1],
        "expiring_before=2026-06-30": [],
    }
    found = {query: codes(runtime.get(f"lessons?{query}")) for query in expected}
    wanted = {query: [f"EXP-{number:03d}" for number in numbers] for query, numbers in expected.items()}
    wanted["tag=schema&tag=artifact-bus"] = ["EXP-004", "EXP-001"]
    assert found == wanted


@pytest.mark.parametrize(
    "query",
    ["status=open", "severity=bad", "type=x", "category=x", "agent=x", "expiring_before=soon", "page_size=0"],
)
def test_a_filter_that_cannot_be_is_refused(runtime, query):
    assert problem(runtime.get(f"lessons?{query}"))[:2] == (400, "VALIDATION_ERROR")


def test_pages_give_each_lesson_once(acme, runtime):
    for _ in range(5):
        make_lesson(acme, NOW)
    pages = [codes(runtime.get(f"lessons?page_size=2&page={page}")) for page in (1, 2, 3)]
    assert sum(pages, []) == [f"EXP-{number:03d}" for number in (5, 4, 3, 2, 1)]


def test_a_key_changes_only_drafts_that_a_key_reported(acme, runtime, staff, approver):
    report(runtime, **COMPLETE)
    assert runtime.patch("lessons/EXP-001", {"severity": "high"}).json()["severity"] == "high"
    make_lesson(acme, NOW, status="draft")
    assert problem(runtime.patch("lessons/EXP-002", {"severity": "high"}))[:2] == (403, "SCOPE_MISSING")
    Staff(approver).post("lessons/EXP-001/confirm")
    assert problem(runtime.patch("lessons/EXP-001", {"severity": "low"}))[:2] == (403, "SCOPE_MISSING")
    for verb in ("confirm", "reject", "supersede", "archive", "restore", "promote"):
        assert problem(runtime.post(f"lessons/EXP-001/{verb}", {"reason": "x"}))[:2] == (403, "SCOPE_MISSING")
    assert problem(runtime.delete("lessons/EXP-002"))[:2] == (403, "SCOPE_MISSING")
    assert staff.patch("lessons/EXP-001", {"severity": "low"}).status_code == 200


def test_a_stale_change_is_refused_and_an_equal_one_changes_nothing(acme, staff):
    make_lesson(acme, NOW)
    first = staff.patch("lessons/EXP-001", {"title": "new"}, if_match='"1"')
    assert (first.status_code, first.headers["ETag"]) == (200, '"2"')
    stale = staff.patch("lessons/EXP-001", {"title": "late"}, if_match='"1"')
    assert problem(stale)[:2] == (412, "VERSION_MISMATCH")
    assert stale.json()["current_version"] == 2
    receipts = Receipt.objects.count()
    assert staff.patch("lessons/EXP-001", {"title": "new"}).headers["ETag"] == '"2"'
    assert Receipt.objects.count() == receipts


def test_a_change_of_an_active_lesson_has_a_receipt_with_both_digests(acme, staff):
    make_lesson(acme, NOW)
    staff.patch("lessons/EXP-001", {"takeaway": "Define the schema first."})
    receipt = Receipt.objects.latest("pk")
    assert (receipt.trigger, receipt.actor_name, receipt.channel) == ("lesson_changed", "operator", "api")
    assert [line.target for line in receipt.lines.all()] == ["EXP-001"]
    assert receipt.detail["before_sha256"] != receipt.detail["after_sha256"]


def test_an_active_lesson_stays_complete(acme, staff):
    make_lesson(acme, NOW)
    answer = staff.patch("lessons/EXP-001", {"how": "", "checklist": []})
    assert problem(answer) == (400, "LESSON_INCOMPLETE", ["/how", "/checklist"])
    Lesson.objects.update(when="")
    assert staff.patch("lessons/EXP-001", {"title": "imported without when"}).status_code == 200


@pytest.mark.parametrize(
    ("changes", "expires", "manual"),
    [
        ({}, "2027-01-19", False),
        ({"category": "INCIDENT-EXP"}, "2027-07-23", False),
        ({"category": "RULE-EXP"}, None, False),
        ({"category": "CALIB-EXP"}, None, False),
        ({"date": "2026-07-24"}, "2027-01-20", False),
        ({"expires_on": "2026-12-12"}, "2026-12-12", True),
        ({"expires_on": None}, None, True),
        ({"expires_on": "2027-01-19"}, "2027-01-19", False),
    ],
)
def test_the_expiry_follows_date_and_category_until_it_is_set_by_hand(acme, staff, changes, expires, manual):
    make_lesson(acme, NOW, status="draft", date=date(2026, 7, 23))
    changed = staff.patch("lessons/EXP-001", changes).json()
    assert (changed["expires_on"], changed["expires_manual"]) == (expires, manual)
    later = staff.patch("lessons/EXP-001", {"date": "2026-07-25", "category": "PRACT-EXP"}).json()
    assert later["expires_on"] == (expires if manual else "2027-01-21")
    assert staff.patch("lessons/EXP-001", {"expires_manual": False}).json()["expires_on"] == "2027-01-21"


def test_keys_and_index_follow_the_lesson(acme, staff, approver):
    make_lesson(acme, NOW)
    staff.patch("lessons/EXP-001", {"tags": ["New"], "related_files": ["b.py"]})
    assert set(LessonKey.objects.values_list("kind", "key")) == {("tag", "new"), ("file", "b.py")}
    document = SearchDocument.objects.get(kind="lesson")
    assert "=b.py" in document.fields["path"]
    assert (document.state, document.removed) == (0, False)
    Staff(approver).post("lessons/EXP-001/archive")
    assert SearchDocument.objects.get(kind="lesson").state == 2
    make_lesson(acme, NOW, status="draft")
    assert SearchDocument.objects.filter(kind="lesson").count() == 1


def test_the_file_of_a_lesson_the_index_and_the_empty_form(acme, runtime):
    for _ in range(2):
        make_lesson(acme, NOW, date=date(2026, 6, 12))
    make_lesson(acme, NOW, status="draft")
    answer = runtime.get("lessons/EXP-001/markdown")
    text = answer.content.decode()
    assert answer.headers["Content-Type"] == "text/markdown; charset=utf-8"
    assert text.startswith("---\nid: EXP-001\ntitle: handoff schema")
    assert "## 教训 (Lesson)\n\n> 第一个版本就定义 schema。" in text
    as_json = runtime.get("lessons/EXP-001/markdown", accept="application/json")
    assert as_json.json() == {"markdown": text}
    index = runtime.get("lessons/index").json()
    assert (index["total"], index["last_updated"]) == (2, "2026-06-12")
    assert [row["id"] for row in index["experiences"]] == ["EXP-001", "EXP-002"]
    assert index["experiences"][0] == {
        "id": "EXP-001",
        "title": "handoff schema 与 wrapper 不匹配",
        "type": "bug-fix",
        "severity": "medium",
        "category": "PRACT-EXP",
        "date": "2026-06-12",
        "tags": ["Schema", "artifact-bus"],
        "related_files": ["src/a.py", "docs/"],
        "key_lesson": "第一个版本就定义 schema。",
        "path": ".agent/experiences/EXP-001.md",
        "expires": "2026-12-09",
    }
    assert "- [ ] " in runtime.get("lessons/template").content.decode()
    missing = runtime.get("lessons/EXP-009/markdown", accept="text/markdown")
    assert (missing.status_code, missing.headers["Content-Type"]) == (
        404,
        "application/problem+json",
    )


def test_a_list_costs_the_same_however_long_it_is(acme, runtime, django_assert_max_num_queries):
    for number in range(6):
        make_lesson(acme, NOW, related=["EXP-001"] if number else [])
    with django_assert_max_num_queries(5):
        assert len(codes(runtime.get("lessons"))) == 6
