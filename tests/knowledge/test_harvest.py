"""A report becomes a draft when it teaches something new; otherwise it says why not."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from common.counters.services import next_number
from evolution.knowledge.models import Knowledge, LearningItem
from evolution.knowledge.rules.harvesting import Draft, drafted
from evolution.knowledge.services.harvesting import harvest
from tests.factories import SYSTEM
from tests.knowledge.items import key_actor

NOW = datetime(2026, 6, 12, 4, 0, tzinfo=UTC)
FIX = {"error_type": "NullPointer", "root_cause": "no check", "solution": "Check it first."}
SECRET = "AKIAIOSFODNN7EXAMPLE"


def report(company, source_type="error_fix", source_id="fix-1", by=None, **metadata):
    return LearningItem.objects.create(
        company=company,
        number=next_number(company_id=company.pk, prefix="LQ-"),
        source_type=source_type,
        source_id=source_id,
        priority="P1",
        metadata=metadata,
        created_by=by.name if by else "test",
        created_by_key_id=by.key_id if by else None,
    )


def learn(company, *arguments, **fields):
    return harvest(report(company, *arguments, **fields), actor=SYSTEM, now=NOW)


@pytest.mark.parametrize(
    ("source", "metadata", "title", "category", "confidence"),
    [
        ("error_fix", FIX, "Fix: NullPointer", "debugging", "0.8"),
        ("error_fix", {"error_type": "空指针", "solution": "先判空"}, "Fix: 空指针", "debugging", "0.8"),
        (
            "user_feedback",
            {"title": "Global state", "category": "anti-pattern"},
            "Anti-Pattern: Global state",
            "anti-pattern",
            "0.85",
        ),
        ("reference_project", {"title": "django"}, "django", "reference-project", "0.75"),
        (
            "reference_project",
            {"title": "god class", "category": "anti-pattern"},
            "Anti-Pattern: god class",
            "anti-pattern",
            "0.85",
        ),
        ("conversation", {"description": "用 uv\n更快", "tool": "uv"}, "用 uv", "tooling", "0.7"),
        (
            "conversation",
            {"title": "Choose Redis", "technology": "redis"},
            "Choose Redis",
            "architecture",
            "0.7",
        ),
        ("code_change", {"title": "Repository", "occurrences": 3}, "Repository", "pattern", "0.7"),
        ("user_feedback", {"title": "Parallel", "time_saved_minutes": 20}, "Parallel", "workflow", "0.7"),
        ("conversation", {"title": "t", "category": "cooking"}, "t", "workflow", "0.7"),
    ],
)
def test_what_a_report_teaches(source, metadata, title, category, confidence):
    draft = drafted(source, "src-1", metadata)
    assert isinstance(draft, Draft)
    assert (draft.fields["title"], draft.fields["category"]) == (title, category)
    assert draft.confidence == Decimal(confidence)
    assert draft.fields["references"][0] == "src-1"


@pytest.mark.parametrize(
    ("source", "metadata", "words"),
    [
        ("error_fix", {"solution": "x"}, "error_type"),
        ("error_fix", {"error_type": "E"}, "solution"),
        ("error_fix", {"error_type": ["E"], "solution": 3}, "error_type"),
        ("code_change", {"title": "Repository", "occurrences": 2}, "third time"),
        ("code_change", {"title": "Repository"}, "third time"),
        ("code_change", {"title": "Repository", "occurrences": True}, "third time"),
        ("conversation", {}, "title"),
        ("conversation", {"title": " \u200b", "description": 7}, "title"),
        ("user_feedback", {"title": "Parallel", "time_saved_minutes": -5}, "gain"),
    ],
)
def test_what_teaches_nothing_says_why(source, metadata, words):
    assert words in str(drafted(source, "src-1", metadata).note)


@pytest.mark.django_db
def test_an_error_fix_becomes_a_draft_with_its_tag_and_its_parts(acme):
    assert learn(acme, **FIX, files_changed=["a.py"]).code == "k-001"
    item = Knowledge.objects.get()
    assert (item.status, item.source_type, item.tags) == ("draft", "error_fix", ["NullPointer"])
    assert item.summary == "Check it first."
    assert item.details == "### Root cause\nno check\n\n### Solution\nCheck it first.\n\n### Files\n- a.py"
    assert item.source.code == "LQ-001"


@pytest.mark.django_db
def test_a_known_error_type_with_a_known_solution_teaches_nothing(acme):
    learn(acme, **FIX)
    again = learn(acme, source_id="fix-2", **{**FIX, "solution": "check  IT first."})
    assert (again.code, "k-001" in again.note) == ("", True)
    assert Knowledge.objects.get().confidence == Decimal("0.8")


@pytest.mark.django_db
def test_a_new_solution_of_a_known_error_type_speaks_for_the_item(acme):
    learn(acme, **FIX)
    other = learn(acme, source_id="fix-2", **{**FIX, "solution": "Use Optional."})
    assert other.code == "k-001"
    assert Knowledge.objects.get().confidence == Decimal("0.9")


@pytest.mark.django_db
def test_the_same_report_read_again_makes_nothing_more(acme):
    item = report(acme, **FIX)
    assert [harvest(item, actor=SYSTEM, now=NOW).code for _time in range(2)] == ["k-001", "k-001"]
    assert Knowledge.objects.get().confidence == Decimal("0.8")


@pytest.mark.django_db
def test_a_key_s_second_report_does_not_corroborate_its_first(acme):
    key, other = key_actor(acme), key_actor(acme)
    for number, by in enumerate([key, key, other]):
        learn(acme, "conversation", f"c-{number}", by=by, title="Use uv")
    item = Knowledge.objects.get()
    assert (item.created_by_key_id, item.confidence) == (key.key_id, Decimal("0.8"))


@pytest.mark.django_db
def test_secrets_of_a_report_are_not_kept(acme):
    learn(acme, **{**FIX, "error_type": f"E {SECRET}", "solution": f"use {SECRET}"})
    assert SECRET not in str(Knowledge.objects.values().get())


@pytest.mark.django_db
def test_a_report_of_any_size_fits(acme):
    long = "长" * 30_000
    assert learn(acme, **{**FIX, "error_type": long, "solution": long, "tags": ["x" * 99] * 99}).code
    assert learn(acme, "conversation", "c", title=long, code_example=long, references=[long] * 99).code
