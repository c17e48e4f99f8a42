"""A rule that was written down is a lesson learned."""

import pytest

from evolution.lessons.rules.commits import ChangedFile, Commit
from evolution.lessons.rules.rule_files import rule_files


def found(subject, *files, known=(), **fields):
    commit = Commit("s", subject, files=tuple(files), **fields)
    return [(rule.path, rule.reason) for rule in rule_files(commit, known)]


@pytest.mark.parametrize(
    ("subject", "file", "expected"),
    [
        ("feat: x", ChangedFile(".agent/rules/锁.md", "A"), [(".agent/rules/锁.md", "new_rule")]),
        ("feat: x", ChangedFile("rules/a.mdc", "A"), [("rules/a.mdc", "new_rule")]),
        ("feat: x", ChangedFile("rules/a.md", "M"), []),
        ("feat: x", ChangedFile("rules/a.md"), []),
        ("refactor(agent)!: x", ChangedFile("rules/a.md", "M"), [("rules/a.md", "refactored")]),
        ("refactor：整理", ChangedFile("a/workflows/b.md"), [("a/workflows/b.md", "refactored")]),
        ("refactor: x", ChangedFile("rules/a.md", "D"), []),
        ("refactor: x", ChangedFile("src/rules.md", "M"), []),
        ("refactor: x", ChangedFile("evolution/rules/scoring.py", "A"), []),
        ("refactor: x", ChangedFile(".github/workflows/ci.yml", "M"), []),
        ("refactoring: x", ChangedFile("rules/a.md", "M"), []),
    ],
)
def test_new_rules_and_refactored_ones_are_found(subject, file, expected):
    assert found(subject, file) == expected


def test_each_file_counts_once():
    file = ChangedFile("rules/a.md", "A")
    assert len(found("x", file, file)) == 1
    assert found("x", file, known={"rules/a.md"}) == []


def test_merges_boundaries_and_mass_moves_teach_nothing():
    file = ChangedFile("rules/a.md", "A")
    assert found("x", file, parents=("p", "q")) == []
    assert found("x", file, is_boundary=True) == []
    assert found("x", file, file_count=101) == []
