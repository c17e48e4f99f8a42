"""What becomes of reports: knowledge from a fix, patterns from code, nothing and why."""

import pytest

from common.receipts.models import Receipt
from evolution.knowledge.models import Knowledge
from evolution.patterns.models import Pattern, PatternSighting
from tests.commands.calls import run
from tests.cycles.queue_helpers import items, reported
from tests.factories import ApiClient, make_key
from tests.lessons.people import Staff
from tests.patterns.diffs import added, three_places

pytestmark = pytest.mark.django_db


@pytest.fixture
def runtime(acme):
    return ApiClient(make_key(acme, ["read", "report"], name="runtime"), **{"accept-language": "en"})


def change(runtime, source_id, **metadata):
    return reported(runtime, source_id, source_type="code_change", metadata=metadata, priority="P0")


def test_an_error_fix_is_a_draft_once_whoever_works_the_queue_off(runtime, operator):
    reported(runtime)
    told = Staff(operator).post("learning-items/process").json()["items"]
    assert (told[0]["status"], told[0]["result"]) == ("done", "k-001")
    knowledge = Knowledge.objects.get()
    assert (knowledge.status, knowledge.created_by) == ("draft", "key:runtime")
    run("process_learning_queue")
    assert Knowledge.objects.count() == 1
    receipt = Receipt.objects.get(trigger="learning_item_processed")
    assert (receipt.actor_name, receipt.detail["result"]) == ("operator", "k-001")


def test_a_difference_is_searched_for_patterns(runtime):
    runtime.post("patterns", {"name": "Repository", "keywords": ["repository", "session"]})
    told = change(runtime, "c1", diff=added("a.py", "repository", "session"), repository="app", commit="a1")
    assert (told["result"], told["note"]) == ("P-001", "1 new sighting of a pattern.")
    seen = PatternSighting.objects.get()
    assert (seen.repository, seen.commit, seen.file, seen.created_by) == ("app", "a1", "a.py", "key:runtime")
    told = change(runtime, "c2", diff=three_places())
    assert told["result"] == "P-002"
    assert Pattern.objects.get(number=2).created_by == "key:runtime"


def test_a_structure_is_drafted_with_its_third_report(runtime):
    for number, name in enumerate(["Result type", "result TYPE", "Other"]):
        assert change(runtime, f"c{number}", structure=name)["result"] == ""
    assert Pattern.objects.count() == 0
    told = change(runtime, "c3", structure="Result  type", description="errors as values")
    assert told["result"] == ""  # two spaces: another spelling
    assert change(runtime, "c4", structure="Result type", description="errors as values")["result"] == "P-001"
    assert change(runtime, "c5", structure="Result type")["result"] == "P-001"
    pattern = Pattern.objects.get()
    assert (pattern.status, pattern.description, pattern.created_by) == (
        "pending",
        "errors as values",
        "key:runtime",
    )


@pytest.mark.parametrize(
    "metadata",
    [
        {"diff": "not a diff"},
        {"diff": ["+++ b/a"], "structure": 7},
        {},
        {"diff": added("a.py", "x"), "commit": "--x"},
    ],
)
def test_a_change_that_teaches_nothing_is_done_with_a_reason(runtime, metadata):
    told = change(runtime, "c1", **metadata)
    assert (told["status"], told["result"]) == ("done", "")
    assert told["note"]
    assert items()[0].attempts == 0


def test_a_structure_without_a_visible_name_is_none(runtime):
    for number in range(3):
        told = change(runtime, f"c{number}", structure="\u200b")
    assert (told["status"], told["error"], Pattern.objects.count()) == ("done", "", 0)


def test_a_run_of_a_workflow_is_done_with_a_reason(runtime):
    told = reported(runtime, source_type="workflow_run", priority="P0", metadata={"workflow": "ship"})
    assert told["status"] == "done" and told["note"].startswith("Runs of workflows")
