"""Which state follows which, and what a lesson needs to count."""

import itertools

import pytest

from common.errors import ApplicationError
from evolution.lessons.rules.lifecycle import (
    TRANSITIONS,
    Completeness,
    check_complete,
    check_supersedes,
    completeness_faults,
    next_status,
)

STATES = ["draft", "active", "superseded", "archived", "rejected"]
ALLOWED = {
    ("draft", "confirm"): "active",
    ("draft", "reject"): "rejected",
    ("active", "supersede"): "superseded",
    ("active", "archive"): "archived",
    ("archived", "restore"): "active",
    ("superseded", "reinstate"): "active",
}


@pytest.mark.parametrize(("status", "verb"), list(itertools.product(STATES, TRANSITIONS)))
def test_only_the_listed_steps_are_possible(status, verb):
    if (status, verb) in ALLOWED:
        assert next_status(status, verb) == ALLOWED[status, verb]
    else:
        with pytest.raises(ApplicationError) as caught:
            next_status(status, verb)
        assert caught.value.code == "STATE_CONFLICT"


def lesson(**changes):
    complete = {"what": "错", "when": "时", "how": "修", "takeaway": "教训", "checks": ("a", "b", "c")}
    return Completeness(**(complete | changes))


def test_a_complete_lesson_has_no_fault():
    assert completeness_faults(lesson()) == []
    assert completeness_faults(lesson(category="RULE-EXP", has_rule=True)) == []
    check_complete(lesson())


@pytest.mark.parametrize(
    ("changes", "pointers"),
    [
        ({"what": ""}, ["/what"]),
        ({"when": " \u200b\n"}, ["/when"]),
        ({"how": "\u3000"}, ["/how"]),
        ({"takeaway": ""}, ["/takeaway"]),
        ({"checks": ("a", "b")}, ["/checklist"]),
        ({"checks": ("a", "b", " ")}, ["/checklist"]),
        ({"category": "RULE-EXP"}, ["/rule_experience"]),
        ({"takeaway": "- one\n- two"}, ["/takeaway"]),
        ({"takeaway": "记住:\n1. 甲\n2. 乙"}, ["/takeaway"]),
        ({"takeaway": "一、甲\n1、乙\n2、丙"}, ["/takeaway"]),
        ({"what": "", "when": "", "how": "", "takeaway": "", "checks": ()},
         ["/what", "/when", "/how", "/takeaway", "/checklist"]),
    ],
)  # fmt: skip
def test_each_missing_part_is_named(changes, pointers):
    with pytest.raises(ApplicationError) as caught:
        check_complete(lesson(**changes))
    assert caught.value.code == "LESSON_INCOMPLETE"
    assert [fault.pointer for fault in caught.value.errors] == pointers


@pytest.mark.parametrize(
    "takeaway", ["- one item", "a line\nanother - with a dash", "1.5 of 2.0\n3.5 more", "*bold*\n**two**"]
)
def test_one_item_or_prose_is_one_lesson(takeaway):
    assert completeness_faults(lesson(takeaway=takeaway)) == []


@pytest.mark.parametrize(
    ("number", "supersedes", "chain"),
    [(1, 1, {}), (1, 2, {2: 1}), (1, 2, {2: 3, 3: 4, 4: 1})],
)
def test_a_lesson_never_replaces_itself(number, supersedes, chain):
    with pytest.raises(ApplicationError) as caught:
        check_supersedes(number, supersedes, chain)
    assert caught.value.code == "LESSON_SUPERSEDE_CYCLE"
    assert "EXP-001" in str(caught.value.message)


@pytest.mark.parametrize(
    ("number", "supersedes", "chain"),
    [(2, 1, {}), (3, 2, {2: 1, 1: None}), (9, 2, {2: 3, 3: 2})],
)
def test_a_straight_chain_is_fine_and_an_old_cycle_holds_nothing_up(number, supersedes, chain):
    check_supersedes(number, supersedes, chain)
