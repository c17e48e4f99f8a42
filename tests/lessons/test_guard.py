"""What old lessons say of a change."""

import pytest

from evolution.lessons.rules.guard import Change, Guarded, check_change

LESSON = Guarded(1, "schema", "high", ["a/handoff.js", "docs/"], ["一", "二", "三"])
DONE = {(1, item): True for item in range(3)}


def test_a_touched_lesson_without_answers_needs_attention():
    result = check_change([LESSON], Change(["./a/handoff.js"]))
    assert result.verdict == "attention"
    assert [item.text for item in result.lessons[0].open_items] == ["一", "二", "三"]
    assert (result.missing_citations, result.fix_without_lesson) == ([1], False)
    assert result.markdown == (
        "## 经验合规检查\n\n- [ ] 已调用 /experience-recall 检索相关教训\n"
        '- [ ] 已确认不违反相关经验的"防复发检查"\n- [x] 如本次修改属于 fix/revert，已生成 EXP-*.md\n'
    )


def test_all_answered_and_cited_passes():
    change = Change(["a/handoff.js"], cited={1}, answers=DONE, was_recalled=True)
    result = check_change([LESSON], change)
    assert (result.verdict, result.lessons[0].open_items) == ("pass", [])
    assert "[ ]" not in result.markdown


def test_a_change_elsewhere_passes():
    result = check_change([LESSON], Change(["b.js"], subject="feat: x"))
    assert (result.verdict, result.lessons, result.fix_without_lesson) == ("pass", [], False)


@pytest.mark.parametrize(
    ("subject", "has_lesson", "verdict"),
    [
        ("fix: x", False, "attention"),
        ("修复 x", False, "attention"),
        ("fix: x", True, "pass"),
        ("docs: fix x", False, "pass"),
    ],
)
def test_a_fix_without_a_lesson_needs_attention(subject, has_lesson, verdict):
    result = check_change([], Change([], subject=subject, has_lesson=has_lesson))
    assert (result.verdict, result.fix_without_lesson) == (verdict, verdict == "attention")


@pytest.mark.parametrize(
    ("severity", "answers", "cited", "verdict"),
    [
        ("low", {}, {1}, "pass"),
        ("low", {}, (), "attention"),
        ("medium", {}, {1}, "attention"),
        ("medium", DONE, (), "attention"),
        ("high", DONE | {(1, 2): False}, {1}, "attention"),
    ],
)
def test_open_items_of_low_lessons_do_not_count_but_citations_do(severity, answers, cited, verdict):
    lesson = Guarded(1, "x", severity, ["docs/"], ["一", "二", "三"])
    result = check_change([lesson], Change(["docs/a/b.md"], answers=answers, cited=cited))
    assert result.verdict == verdict
    assert result.lessons[0].matched_files == ["docs/a/b.md"]


def test_the_gravest_come_first():
    lessons = [Guarded(n, "x", severity, ["a"]) for n, severity in ((1, "low"), (2, "high"), (3, "high"))]
    assert [lesson.number for lesson in check_change(lessons, Change(["a"])).lessons] == [2, 3, 1]
