"""The learning queue through its doors: each report once, in order, in the face of failures."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from common.receipts.models import Receipt
from evolution.cycles.services import dispatching
from evolution.cycles.tasks import process_urgent_learning
from evolution.knowledge.models import LearningItem
from evolution.knowledge.rules import queue as rules
from evolution.knowledge.services import queue
from evolution.parameters.models import Parameter
from tests.commands.calls import lines, run
from tests.cycles.queue_helpers import NOTHING, instead, items, reported
from tests.factories import SYSTEM, ApiClient, make_agent, make_key
from tests.lessons.people import Staff, problem

pytestmark = pytest.mark.django_db


@pytest.fixture
def runtime(acme):
    return ApiClient(make_key(acme, ["read", "report"], name="runtime"), **{"accept-language": "en"})


# -- reporting


@pytest.mark.parametrize(
    ("source_type", "priority"),
    [
        ("error_fix", "P1"),
        ("user_feedback", "P1"),
        ("code_change", "P2"),
        ("workflow_run", "P2"),
        ("conversation", "P2"),
        ("reference_project", "P3"),
    ],
)
def test_each_kind_has_its_priority(runtime, source_type, priority):
    told = reported(runtime, source_type=source_type)
    assert (told["id"], told["priority"], told["status"]) == ("LQ-001", priority, "pending")
    assert told["created_by"] == "key:runtime"
    assert Receipt.objects.filter(trigger__startswith="learning").count() == 0


@pytest.mark.parametrize(
    ("sent", "category", "priority"),
    [
        (None, "tooling", "P1"),
        (None, "debugging", "P2"),
        (None, ["tooling"], "P2"),
        ("P3", "tooling", "P2"),
    ],
)
def test_a_boosted_category_ranks_one_step_higher(runtime, acme, sent, category, priority):
    Parameter.objects.create(company=acme, name="boosted_categories", value=["tooling"])
    told = reported(runtime, source_type="code_change", priority=sent, metadata={"category": category})
    assert told["priority"] == priority


def test_one_source_reported_twice_is_one_item(runtime, rival):
    first = reported(runtime, "e-1")
    again = reported(runtime, " e-1 ", status=200, metadata={"solution": "another"}, priority="P3")
    assert again == first
    assert reported(runtime, "e-1", source_type="conversation")["id"] == "LQ-002"
    other = ApiClient(make_key(rival, ["report"]))
    assert reported(other, "e-1")["id"] == "LQ-001"
    assert len(items()) == 3


def test_a_key_of_one_agent_does_not_learn_of_a_report_about_another(runtime, acme):
    agent = make_agent(acme)
    bound = ApiClient(make_key(acme, ["read", "report"], agent_id=agent.pk))
    reported(runtime, "e-1")
    assert problem(reported_raw(bound, "e-1"))[:2] == (409, "STATE_CONFLICT")
    assert reported(bound, "e-2")["agent"] == agent.pk
    assert bound.get("learning-items").json()["count"] == 1
    assert bound.post("learning-items/process").json()["done"] == 1
    assert LearningItem.objects.get(number=1).status == "pending"


def reported_raw(client, source_id):
    return client.post("learning-items", {"source_type": "error_fix", "source_id": source_id})


def test_secrets_never_reach_the_table(runtime):
    token = "ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
    for name in ("one", "two"):
        metadata = {"solution": f"use {token}", "nested": [{"password": "hunter2secret"}]}
        told = reported(runtime, f"{name}@example.com/7", metadata=metadata)
        assert told["redactions"]["email"] == 1
    stored = repr(list(LearningItem.objects.values()))
    assert token not in stored and "hunter2secret" not in stored and "example.com" not in stored
    assert reported(runtime, "two@example.com/7", status=200)["id"] == "LQ-002"


@pytest.mark.parametrize(
    ("fields", "pointers"),
    [
        ({"source_type": "gossip", "source_id": ""}, ["/source_type", "/source_id"]),
        ({"source_type": "error_fix", "source_id": "x" * 201}, ["/source_id"]),
        ({"source_type": "error_fix", "source_id": 7, "priority": "P9"}, ["/priority", "/source_id"]),
        ({"source_type": "error_fix", "source_id": "x", "metadata": [1]}, ["/metadata"]),
        (
            {"source_type": ["error_fix"], "source_id": "\u200b", "metadata": None},
            ["/source_type", "/source_id"],
        ),
    ],
)
def test_a_bad_report_is_one_clear_error(runtime, fields, pointers):
    assert problem(runtime.post("learning-items", fields)) == (400, "VALIDATION_ERROR", pointers)
    assert items() == []


def test_a_report_that_is_too_large_says_by_how_much(runtime):
    metadata = {"diff": "x" * rules.MAX_METADATA}
    answer = runtime.post(
        "learning-items", {"source_type": "error_fix", "source_id": "x", "metadata": metadata}
    )
    assert "remove 12." in answer.json()["errors"][0]["detail"]


def test_the_list_is_paged_filtered_and_in_order(runtime, acme, django_assert_num_queries):
    for number, priority in enumerate(["P3", "P1", "P2", "P1"]):
        reported(runtime, f"e-{number}", priority=priority, source_type="conversation")
    reported(runtime, "own", agent=make_agent(acme).pk)
    codes = lambda query: [row["id"] for row in runtime.get(f"learning-items{query}").json()["results"]]  # noqa: E731
    assert codes("") == ["LQ-002", "LQ-004", "LQ-005", "LQ-003", "LQ-001"]
    assert codes("?page_size=2&page=2") == ["LQ-005", "LQ-003"]
    assert codes("?priority=P1&source_type=conversation&status=pending") == ["LQ-002", "LQ-004"]
    assert codes(f"?agent={items()[-1].agent_id}") == ["LQ-005"]
    assert runtime.get("learning-items?status=lost").status_code == 400
    assert runtime.get("learning-items?agent=x").status_code == 404


# -- processing


def test_p0_is_processed_on_arrival_and_once(runtime):
    told = reported(runtime, "run-1", source_type="workflow_run", priority="P0")
    assert (told["status"], told["result"]) == ("done", "")
    assert told["note"].startswith("Runs of workflows") and told["processed_at"]
    assert reported(runtime, "run-1", source_type="workflow_run", priority="P0", status=200) == told
    receipt = Receipt.objects.get(trigger="learning_item_processed")
    assert (receipt.actor_name, receipt.lines.get().target) == ("key:runtime", "LQ-001")


def test_a_p0_that_fails_is_kept_for_later(runtime, monkeypatch):
    instead(monkeypatch, RuntimeError("no luck with password=hunter2secret"))
    told = reported(runtime, priority="P0")
    assert (told["status"], told["attempts"]) == ("pending", 1)
    assert told["error"].startswith("RuntimeError") and "hunter2secret" not in told["error"]


def test_ten_at_a_time_by_priority_then_first_come_first_served(runtime, monkeypatch):
    seen = []
    instead(monkeypatch, lambda item: seen.append(item.code) or NOTHING)
    for number in range(12):
        reported(runtime, f"e-{number}", priority="P3" if number < 2 else "P1")
    answer = runtime.post("learning-items/process").json()
    assert seen == [f"LQ-{number:03d}" for number in range(3, 13)]
    assert (answer["done"], answer["waiting"], answer["items"][0]["note"]) == (10, 2, "nothing new")
    assert runtime.post("learning-items/process", {"priority": "P1"}).json()["done"] == 0
    assert runtime.post("learning-items/process", {"limit": 1}).json()["items"][0]["id"] == "LQ-001"
    assert runtime.post("learning-items/process", {"limit": 0}).status_code == 400


def test_after_the_third_failure_it_is_given_up_and_stays(runtime, monkeypatch, signed_in, operator):
    instead(monkeypatch, ValueError("bad luck"))
    reported(runtime)
    for attempts, status in ((1, "pending"), (2, "pending"), (3, "dead")):
        assert lines("process_learning_queue")[0] == f"LQ-001 {status}: ValueError: bad luck"
        assert (items()[0].attempts, items()[0].status) == (attempts, status)
    assert run("process_learning_queue") == "processed 0 done 0 failed 0 dead 0 purged 0"
    assert Receipt.objects.filter(trigger__startswith="learning").count() == 0
    instead(monkeypatch, NOTHING)
    page = "/admin/knowledge/learningitem/"
    chosen = {"action": "replay_chosen", "_selected_action": [items()[0].pk]}
    client = signed_in(operator)
    assert "LQ-001" in client.post(page, chosen).content.decode()
    assert items()[0].status == "dead"
    assert (
        "1 report starts again"
        in client.post(page, {**chosen, "confirmed": "yes"}, follow=True).content.decode()
    )
    assert (items()[0].status, items()[0].attempts, items()[0].error) == ("pending", 0, "")
    client.post(page, {**chosen, "confirmed": "yes"})
    assert Receipt.objects.filter(trigger="learning_items_replayed").count() == 1
    assert run("process_learning_queue", "--company", "acme").startswith("processed 1 done 1")


def test_one_that_fails_does_not_stop_the_others_nor_repeat_in_the_same_run(runtime, monkeypatch):
    def effect(item):
        if item.number == 1:
            raise ValueError("bad luck")
        return NOTHING

    instead(monkeypatch, effect)
    for number in range(12):
        reported(runtime, f"e-{number}")
    assert lines("process_learning_queue")[-1] == "processed 12 done 11 failed 1 dead 0 purged 0"
    assert items()[0].attempts == 1


def test_a_lost_item_comes_back_after_ten_minutes_and_counts_as_a_failure(runtime):
    reported(runtime)
    now = timezone.now()
    assert queue.lease(items()[0].pk, now=now) and queue.lease(items()[0].pk, now=now) is None
    assert run("process_learning_queue").startswith("processed 0")
    exactly = (now + timedelta(minutes=10)).isoformat()
    later = (now + timedelta(minutes=10, seconds=1)).isoformat()
    assert run("process_learning_queue", "--as-of", exactly).startswith("processed 0")
    assert run("process_learning_queue", "--as-of", later).startswith("processed 1 done 1")
    assert items()[0].attempts == 1
    LearningItem.objects.update(status="processing", leased_until=now, attempts=2)
    assert run("process_learning_queue", "--as-of", later).startswith("processed 0")
    assert (items()[0].status, items()[0].attempts) == ("dead", 3)


def test_effect_done_and_receipt_stand_or_fall_together(runtime, acme, monkeypatch):
    agent = make_agent(acme)
    instead(monkeypatch, lambda item: type(agent).objects.update(description="learnt") and NOTHING)
    reported(runtime)

    def killed(*args, **kwargs):
        raise RuntimeError("killed")

    with monkeypatch.context() as patched:
        patched.setattr(queue, "write_receipt", killed)
        run("process_learning_queue")
    agent.refresh_from_db()
    assert (agent.description, items()[0].status, items()[0].attempts) == ("", "pending", 1)
    run("process_learning_queue")
    agent.refresh_from_db()
    assert (agent.description, items()[0].status) == ("learnt", "done")


def test_who_lost_the_lease_meanwhile_does_nothing(runtime, monkeypatch):
    calls = []
    instead(monkeypatch, lambda item: calls.append(item.code) or NOTHING)
    reported(runtime)
    item = queue.lease(items()[0].pk, now=timezone.now() - timedelta(minutes=11))
    queue.lease(item.pk, now=timezone.now())
    assert dispatching._learn(item, SYSTEM, timezone.now()) is None
    assert queue.fail(item, error="late", now=timezone.now()).status == "processing"
    assert calls == []


def test_what_is_in_quarantine_is_not_learnt_from(runtime):
    reported(runtime)
    LearningItem.objects.update(quarantined_at=timezone.now())
    assert run("process_learning_queue").startswith("processed 0")


def test_a_trial_run_counts_and_changes_nothing(runtime):
    for number in range(3):
        reported(runtime, f"e-{number}", priority="P1" if number else "P2")
    assert run("process_learning_queue", "--dry-run") == "would have: processed 3 purged 0"
    assert run("process_learning_queue", "--dry-run", "--priority", "P1", "--limit", 1).endswith(
        "processed 1 purged 0"
    )
    assert {item.status for item in items()} == {"pending"}


def test_the_job_takes_only_what_is_urgent_and_companies_take_turns(runtime, rival, monkeypatch):
    seen = []
    instead(monkeypatch, lambda item: seen.append(item.company.slug) or NOTHING)
    for number in range(12):
        reported(runtime, f"e-{number}")
    reported(runtime, "slow", priority="P2")
    reported(ApiClient(make_key(rival, ["report"])), "e-1")
    assert process_urgent_learning() == 13
    assert seen == ["acme"] * 10 + ["rival"] + ["acme"] * 2
    assert process_urgent_learning() == 0


def test_done_items_are_purged_after_seven_days_and_dead_ones_stay(runtime):
    for number in range(2):
        reported(runtime, f"e-{number}", source_type="workflow_run")
    run("process_learning_queue")
    LearningItem.objects.filter(number=2).update(status="dead")
    done = items()[0].processed_at
    exactly, later = (done + timedelta(days=7, seconds=extra) for extra in (0, 1))
    assert run("process_learning_queue", "--as-of", exactly.isoformat()).endswith("purged 0")
    assert run("process_learning_queue", "--as-of", later.isoformat(), "--dry-run").endswith("purged 1")
    assert run("process_learning_queue", "--as-of", later.isoformat()).endswith("purged 1")
    assert [item.code for item in items()] == ["LQ-002"]
    receipt = Receipt.objects.get(trigger="learning_items_purged")
    assert (receipt.type, receipt.detail) == ("retention", {"items": 1})
    assert reported(runtime, "e-0", source_type="workflow_run")["id"] == "LQ-003"


# -- staff


def test_staff_report_and_process_too(operator, viewer):
    assert reported(Staff(operator))["created_by"] == "operator"
    assert Staff(operator).post("learning-items/process").json()["done"] == 1
    assert Staff(viewer).get("learning-items").json()["count"] == 1
    assert Staff(viewer).post("learning-items/process").status_code == 403


def test_the_page_shows_what_was_said_as_text(runtime, signed_in, viewer):
    reported(runtime, "<script>alert(1)</script>", metadata={"description": "<b>x</b>\u202e"})
    client = signed_in(viewer)
    page = client.get(f"/admin/knowledge/learningitem/{items()[0].pk}/change/").content.decode()
    assert "<script>alert(1)" not in page and "<b>x</b>" not in page and "[U+202E]" in page
    assert "LQ-001" in client.get("/admin/knowledge/learningitem/?status__exact=pending").content.decode()


def test_the_list_of_staff_takes_the_same_queries_for_one_row_and_for_many(runtime, signed_in, viewer):
    client = signed_in(viewer)

    def queries():
        with CaptureQueriesContext(connection) as caught:
            assert client.get("/admin/knowledge/learningitem/").status_code == 200
        return len(caught)

    reported(runtime, "one")
    queries()
    one = queries()
    for number in range(5):
        reported(runtime, f"e-{number}")
    assert queries() == one


def test_times_are_told_with_their_offset(runtime):
    assert parse_datetime(reported(runtime)["created_at"]).tzinfo is not None


def test_a_flood_of_one_key_ends_and_others_go_on(runtime, acme, operator, monkeypatch):
    """H9."""
    monkeypatch.setattr(queue, "MAX_WAITING_OF_KEY", 1)
    first = reported(runtime, "e-1")
    refused = reported(runtime, "e-2", status=409)
    assert (refused["code"], refused["limit"]) == ("STATE_CONFLICT", 1)
    assert reported(runtime, "e-1", status=200) == first
    assert reported(ApiClient(make_key(acme, ["report"])), "e-2")["id"] == "LQ-002"
    reported(Staff(operator), "e-3")
    runtime.post("learning-items/process")
    reported(runtime, "e-4")
