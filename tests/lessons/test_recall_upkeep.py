"""Figures over recalls, and what becomes of old ones."""

from datetime import date, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone, translation

from common.receipts.models import Receipt
from evolution.lessons.models import Lesson, RecallLog, RecallOutcome
from evolution.lessons.services.deciding import Decision, confirm, reject
from tests.commands.calls import run
from tests.factories import SYSTEM, ApiClient, make_agent, make_key
from tests.lessons.library import BUS, handoff, make_lesson, ship

pytestmark = pytest.mark.django_db
RATIOS = ("coverage", "confirmed_ratio", "helped_ratio")


def figures(client, query=""):
    answer = client.get(f"lessons/metrics{query}")
    assert answer.status_code == 200, answer.content.decode()
    return answer.json()


def test_without_anything_every_ratio_is_null(reader):
    found = figures(reader)
    assert [found[name] for name in RATIOS] == [None] * 3
    assert (found["recurrence"], found["drafts_waiting"], found["oldest_draft_days"]) == (0, 0, None)
    assert found["counts"] == {"category": {}, "severity": {}, "status": {}, "source": {}}


def test_each_figure_counts_what_its_formula_says(writer, rival_writer, acme, rival):
    handoff(acme), ship(acme), handoff(rival)
    now = timezone.now()
    for number in range(3):
        draft = make_lesson(acme, status="draft", title=f"d{number}")
        decision = Decision(actor=SYSTEM, now=now, reason="no")
        [confirm, confirm, reject][number](lesson_id=draft.pk, decision=decision)
    waiting = make_lesson(acme, status="draft")
    Lesson.objects.filter(pk=waiting.pk).update(created_at=now - timedelta(days=9, hours=1))
    for task, helped in (("schema handoff", True), ("schema", False), ("zebra", None), ("quagga", None)):
        answer = writer.post(
            "lessons/recall", {"task": task, "tags": ["schema"] if helped is not None else []}
        )
        if helped is not None:
            path = f"recalls/{answer.json()['recall_id']}/outcome"
            assert writer.post(path, {"lesson": "EXP-001", "helped": helped}).status_code == 200
    rival_writer.post("lessons/recall", {"files": [BUS]})
    found = figures(writer)
    assert (found["coverage"], found["recalls"]) == (0.5, 4)
    assert found["confirmed_ratio"] == pytest.approx(2 / 3, abs=1e-4)
    assert (found["helped_ratio"], found["drafts_waiting"], found["oldest_draft_days"]) == (0.5, 1, 9)
    assert found["counts"]["status"] == {"active": 4, "draft": 1, "rejected": 1}
    tomorrow = timezone.localdate() + timedelta(days=1)
    assert [figures(writer, f"?from={tomorrow}")[name] for name in RATIOS] == [None] * 3
    assert figures(writer, f"?to={timezone.localdate()}")["recalls"] == 4
    agent = make_agent(acme)
    assert figures(writer, f"?agent={agent.pk}")["recalls"] == 0
    bound = ApiClient(make_key(acme, ["read"], agent_id=agent.pk))
    assert figures(bound)["recalls"] == 0


@pytest.mark.parametrize("query", ["?from=x", "?to=2026-13-01", "?agent=x", "?from=9999-12-31T23:59:59"])
def test_a_span_that_is_none_is_one_clear_error(reader, query):
    assert reader.get(f"lessons/metrics{query}").status_code == 400
    assert reader.get("lessons/metrics?agent=999999999").status_code == 404


def test_a_capture_that_shares_tag_and_file_with_a_recent_lesson_recurs(reader, acme):
    day = date(2026, 6, 1)
    shared = {"tags": ["Lock"], "related_files": ["a.py"]}
    make_lesson(acme, date=day, **shared)
    for days, fields in ((30, shared), (31, shared), (3, {**shared, "tags": ["other"]})):
        draft = make_lesson(acme, status="draft", date=day + timedelta(days=days), **fields)
        Lesson.objects.filter(pk=draft.pk).update(source="commit")
    found = figures(reader)
    assert (found["recurrence"], found["captures"]) == (1, 3)


# -- retention


def test_recalls_older_than_90_days_are_archived_once(writer, acme, signed_in, viewer):
    handoff(acme)
    recall_id = writer.post("lessons/recall", {"files": [BUS]}).json()["recall_id"]
    created = RecallLog.objects.get().created_at
    exactly = (created + timedelta(days=90)).isoformat()
    later = (created + timedelta(days=90, seconds=1)).isoformat()
    assert run("archive_recalls", "--as-of", exactly) == "archived 0"
    assert run("archive_recalls", "--as-of", later, "--dry-run") == "would have: archived 1"
    assert RecallLog.objects.get().archived_at is None
    assert run("archive_recalls", "--as-of", later) == "archived 1"
    assert run("archive_recalls", "--as-of", later) == "archived 0"
    receipt = Receipt.objects.get(company=acme, trigger="recalls_archived")
    assert (receipt.type, receipt.detail) == ("retention", {"recalls": 1})
    page = "/admin/lessons/recalllog/"
    assert "EXP-001" not in signed_in(viewer).get(page).content.decode()
    assert "EXP-001" in signed_in(viewer).get(f"{page}?kept=archived").content.decode()
    assert figures(writer)["recalls"] == 1
    outcome = writer.post(f"recalls/{recall_id}/outcome", {"lesson": "EXP-001", "helped": True})
    assert outcome.status_code == 200
    assert run("archive_recalls", "--purge", "--dry-run") == "would have: purged 1"
    assert run("archive_recalls", "--purge") == "purged 1"
    assert RecallLog.objects.count() == RecallOutcome.objects.count() == 0
    assert Lesson.objects.get().helped_count == 1


# -- pages


def test_try_recall_explains_each_number_and_leaves_no_trace(
    signed_in, viewer, acme, django_assert_max_num_queries
):
    handoff(acme)
    make_lesson(acme, title="<script>alert(1)</script> schema", tags=["schema"])
    client = signed_in(viewer)
    query = {
        "task": "schema 适配",
        "tags": "schema",
        "files": BUS,
        "min_relevance": "0",
        "why_not": "EXP-009",
    }
    with django_assert_max_num_queries(25):
        page = client.get("/admin/lessons/recalllog/try/", query).content.decode()
    for told in (
        "Files of the task that the lesson lists",
        "How far to trust it",
        "There is no such lesson.",
    ):
        assert told in page
    assert "<script>alert(1)" not in page
    assert (RecallLog.objects.count(), Lesson.objects.get(number=1).recalled_count) == (0, 0)
    chinese = signed_in(viewer, "zh-hans").get("/admin/lessons/recalllog/try/", query).content.decode()
    assert "任务文件中该教训列出的部分" in chinese
    for bad in (
        {"task": "x" * 4001},
        {"task": "x", "top_k": "99"},
        {"tags": ","},
        {"task": "x", "agent": "0"},
    ):
        answer = client.get("/admin/lessons/recalllog/try/", bad)
        assert answer.status_code == 200
        assert "of 2 lessons" not in answer.content.decode()


def test_the_pages_of_recalls_and_checks_show_what_was_said(writer, signed_in, viewer, acme):
    handoff(acme)
    recall_id = writer.post("lessons/recall", {"files": [BUS], "reference": "PR-1"}).json()["recall_id"]
    writer.post(f"recalls/{recall_id}/outcome", {"lesson": "EXP-001", "helped": True, "note": "saved a day"})
    answers = [{"lesson": "EXP-001", "item": 0, "done": True, "note": "seen"}]
    writer.post("lessons/check", {"reference": "PR-1", "modified_files": [BUS], "answers": answers})
    writer.post("lessons/check", {"reference": "PR-2", "modified_files": []})
    client = signed_in(viewer)
    log = client.get(f"/admin/lessons/recalllog/{RecallLog.objects.get().pk}/change/").content.decode()
    assert "saved a day" in log and "EXP-001" in log
    checks = "/admin/lessons/changecheck/"
    attention = client.get(f"{checks}?verdict__exact=attention").content.decode()
    assert "PR-1" in attention and "PR-2" not in attention
    page = client.get(f"{checks}1/change/", follow=True)
    assert page.status_code in (200, 404)
    with translation.override("en"):
        assert client.get("/admin/lessons/recalllog/metrics/?part=figures").status_code == 200


@pytest.mark.parametrize("page", ["recalllog", "changecheck"])
def test_the_lists_take_the_same_queries_for_one_row_and_for_many(writer, signed_in, viewer, acme, page):
    def grow(count):
        for number in range(count):
            reference = f"PR-{RecallLog.objects.count()}-{number}"
            writer.post("lessons/recall", {"files": [BUS], "reference": reference})
            writer.post("lessons/check", {"reference": reference, "modified_files": [BUS]})

    def queries():
        with CaptureQueriesContext(connection) as caught:
            assert client.get(f"/admin/lessons/{page}/").status_code == 200
        return len(caught)

    handoff(acme)
    client = signed_in(viewer)
    grow(1)
    queries()
    one = queries()
    grow(6)
    assert queries() == one
