"""Four real histories: what is captured, and how much of it. The figures are pinned, so that a change is seen."""

import json
from collections import Counter
from datetime import UTC, datetime

import pytest

from evolution.lessons.markdown import is_lesson_file, read_document, read_index, read_lesson, write_lesson
from evolution.lessons.models import Lesson, Repository
from evolution.lessons.rules.capture_request import CaptureRequest, oldest_first
from evolution.lessons.rules.churn import ChurnLimits, find_churn
from evolution.lessons.rules.commits import Capture, capture_commit, commit_from_report
from evolution.lessons.services.scanning import capture_pushed
from tests.factories import SYSTEM

NOW = datetime(2026, 11, 1, tzinfo=UTC)

HISTORIES = {
    # file: (captured by form, skipped by reason, churn drafts, left out)
    "DC-ET_mao": (
        {"fix": 91, "plain_fix": 6, "chinese": 3},
        {"type_feat": 288, "no_matching_form": 96, "type_chore": 20, "type_docs": 18, "type_style": 13, "merge": 9,
         "type_test": 2, "type_build": 1, "upkeep": 28, "scope_docs_or_style": 1},
        20, 246,
    ),
    "Kucell_cortex-agent": (
        {"fix": 127, "revert": 1},
        {"type_feat": 304, "type_docs": 95, "merge": 65, "type_chore": 49, "type_test": 27, "no_matching_form": 18,
         "scope_docs_or_style": 2, "type_ci": 1, "type_build": 1, "upkeep": 6},
        20, 235,
    ),
    "svcvit_Awesome-Dify-Workflow": ({}, {"no_matching_form": 159, "merge": 1}, 1, 0),
    "wshobson_agents": (
        {"fix": 70, "plain_fix": 7, "revert": 3},
        {"no_matching_form": 182, "merge": 84, "type_feat": 74, "type_docs": 57, "type_chore": 38, "type_test": 6,
         "typo_or_lint": 4, "type_style": 3, "type_ci": 2, "type_build": 1, "upkeep": 18,
         "scope_docs_or_style": 5},
        20, 123,
    ),
}  # fmt: skip


def history(folder, name):
    commits = []
    with (folder / "commits" / f"{name}.jsonl").open(encoding="utf-8") as lines:
        for report in map(json.loads, lines):
            for key in ("author_date", "committer_date"):
                report[key] = datetime.fromisoformat(report[key])
            commits.append(commit_from_report(report))
    return commits


@pytest.mark.shared_data
@pytest.mark.parametrize("name", HISTORIES)
def test_a_real_history_gives_the_known_drafts_and_skips(shared_data, name):
    forms, reasons, churned, left_out = HISTORIES[name]
    commits = history(shared_data, name)
    results = [capture_commit(commit) for commit in commits]
    assert Counter(result.form for result in results if isinstance(result, Capture)) == forms
    assert Counter(result.reason for result in results if not isinstance(result, Capture)) == reasons
    report = find_churn(commits, ChurnLimits(), NOW)
    assert (len(report.hits), report.left_out) == (churned, left_out)
    assert not any(hit.path.endswith(("CHANGELOG.md", "package.json")) for hit in report.hits)


@pytest.mark.shared_data
def test_the_real_revert_is_linked(shared_data):
    (revert,) = (
        result
        for result in map(capture_commit, history(shared_data, "Kucell_cortex-agent"))
        if isinstance(result, Capture) and result.form == "revert"
    )
    assert revert.sha.startswith("a6c7f94a4f")
    assert (revert.severity, revert.reverts[:8]) == ("high", "81b950fe")


@pytest.mark.shared_data
def test_the_real_lesson_file_and_index_are_read_without_loss(shared_data):
    text = (shared_data / "lessons/EXP-004.zh.md").read_text(encoding="utf-8")
    record = read_lesson(text)
    assert (record.type, record.category, record.warnings) == ("boundary-signal", "CALIB-EXP", [])
    assert (record.expires_on, record.extras, len(record.checklist)) == (None, {}, 3)
    assert read_lesson(write_lesson(record)) == record
    assert read_lesson("\ufeff" + text.replace("\n", "\r\n")) == record
    reading = read_index((shared_data / "lessons/experiences-index.zh.json").read_bytes())
    assert reading.failed == []
    assert {record.code: len(record.warnings) for record in reading.records} == {
        "EXP-001": 0, "EXP-002": 0, "EXP-003": 0, "EXP-018": 4, "EXP-004": 0,
    }  # fmt: skip


@pytest.mark.shared_data
def test_real_decisions_and_reports_become_drafts(shared_data):
    files = [
        *sorted((shared_data / "adr").glob("*.md")),
        *sorted((shared_data / "lessons").glob("posthog*.md")),
    ]
    assert len(files) == 7
    for file in files:
        text = file.read_text(encoding="utf-8")
        record = read_document(text, file.name)
        assert not is_lesson_file(text, file.name)
        assert record.title
        assert record.what
        assert record.status == "draft"


@pytest.mark.shared_data
@pytest.mark.django_db
@pytest.mark.parametrize("name", HISTORIES)
def test_a_real_history_that_is_pushed_gives_the_same_drafts_and_nothing_again(shared_data, acme, name):
    forms, _reasons, _churned, _left_out = HISTORIES[name]
    commits = history(shared_data, name)[:400]
    wanted = [result for result in map(capture_commit, commits) if isinstance(result, Capture)]
    Repository.objects.create(company=acme, name="app")
    request = CaptureRequest("app", oldest_first(commits))
    first, again = (capture_pushed(company=acme, request=request, actor=SYSTEM, now=NOW) for _run in range(2))
    captured = {made.sha for made in first.made if made.source == "commit"}
    known = {skip.sha for skip in first.skipped if skip.reason == "already_captured"}
    assert captured | known == {capture.sha for capture in wanted}
    assert bool(captured) == bool(forms)
    assert not again.made
    assert Lesson.objects.count() == len(first.made)
