"""What a new line repeats or denies, in Chinese and English side by side."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolution.proposals.rules.conflicts import find_conflicts, nearest, polarity
from evolution.proposals.rules.entries import comparable, entries, lines_of, without_entries


def kinds(new, old, own=True):
    lines = {"memory/x.md": [old]}
    found = find_conflicts([new], lines if own else {}, {} if own else lines)
    return [conflict.kind for conflict in found]


DUPLICATES = [
    ("先看日志", "- 先看日志"),
    ("先看日志", "  * 先看日志 "),
    ("先看日志", "3. 先看日志"),
    ("先看日志", "- [x] 先看日志"),
    ("Use TABS", "- use  tabs"),
    ("ＡＰＩ先行", "- API先行"),
    ("# 先看日志", r"- \# 先看日志"),
    ("zero\u200bwidth", "- zerowidth"),
]


@pytest.mark.parametrize(("new", "old"), DUPLICATES)
def test_the_same_words_are_a_duplicate(new, old):
    assert kinds(new, old) == ["duplicate"]


def test_in_another_place_the_same_words_are_no_duplicate():
    assert kinds("先看日志", "先看日志", own=False) == []


CONTRADICTIONS = [
    ("报告必须附图", "报告禁止附图"),
    ("报告要附图", "- 报告不要附图"),
    ("报告附图", "报告绝不附图"),
    ("报告附图", "报告不附图"),
    ("必须区别对待用户", "禁止区别对待用户"),
    ("重要报告要附图", "重要报告不要附图"),
    ("响应必须快", "响应不得快"),
    ("不得不重启服务", "禁止重启服务"),
    ("非重启不可", "切勿重启"),
    ("不同环境必须分开", "不同环境禁止分开"),
    ("总结要点", "不要总结要点"),
    ("要重启", "别重启"),
    ("Always use tables", "never use tables"),
    ("Reports must include charts", "- Don\u2019t include charts in reports"),
    ("use tabs", "do not use tabs"),
    ("Reports should be signed", "reports must not be signed"),
    ("reports are signed", "reports are not signed"),
    ("在 PDF 里必须附图", "在 PDF 里禁止附图"),
]


@pytest.mark.parametrize(("new", "old"), CONTRADICTIONS)
@pytest.mark.parametrize("own", [True, False])
def test_the_same_tokens_with_opposite_polarity_contradict_either_way_round(new, old, own):
    assert kinds(new, old, own) == ["contradiction"]
    assert kinds(old, new, own) == ["contradiction"]


NOTHING = [
    ("报告必须附图", "报告必须附表"),
    ("报告必须附图", "报告要附图"),
    ("报告禁止附图", "报告不要附图"),
    ("识别发票", "识发票"),
    ("特别注意延迟", "注意延迟"),
    ("不要紧", "紧"),
    ("要", "不要"),
    ("use tabs", "use spaces"),
    ("must", "never"),
    ("no problem", "problem solved"),
    ("", "- 先看日志"),
]


@pytest.mark.parametrize(("new", "old"), NOTHING)
def test_other_lines_are_no_conflict(new, old):
    assert kinds(new, old) == []


def test_words_that_only_contain_a_word_of_polarity_have_none():
    for text in ("重要", "特别", "类别", "响应", "摘要", "区别", "only", "mustard", "另类"):
        assert polarity(text).sign == 0, text


def test_a_word_hidden_in_invisible_characters_still_forbids():
    assert kinds("报告必须附图", "报告禁\u200b止附图") == ["contradiction"]


def test_an_entry_of_several_lines_is_compared_as_one():
    text = "- 先看\n  再说\n- 另一条\n"
    assert [entry.text for entry in entries(text)] == ["- 先看\n再说", "- 另一条"]
    found = find_conflicts(["先看\n再说"], {"x": [entry.text for entry in entries(text)]}, {})
    assert [conflict.kind for conflict in found] == ["duplicate"]


def test_sub_items_are_entries_of_their_own():
    assert [entry.text for entry in entries("- a\n  - b\n\n  c\ntext\n")] == ["- a", "- b", "c", "text"]


def test_taking_an_entry_out_keeps_every_other_byte():
    text = "# t\r\n\r\n- 一\r\n  续\r\n- 二\n- 三"
    assert without_entries(text, ["- 一\n续"]) == "# t\r\n\r\n- 二\n- 三"
    assert without_entries(text, ["- nothing like it"]) == text


@given(st.text())
def test_lines_joined_are_the_text(text):
    assert "".join(lines_of(text)) == text


@given(st.text())
def test_comparing_never_fails(text):
    comparable(text)
    polarity(text)


def test_a_long_document_is_compared_in_a_second():
    lines = [f"- 第{number}条：处理请求时不要忘记写日志并检查状态码 {number}" for number in range(6000)]
    began = time.process_time()
    list(find_conflicts([f"处理请求时必须写日志 {number}" for number in range(100)], {"x": lines}, {}))
    assert time.process_time() - began < 20


def test_the_nearest_lines_come_with_place_and_similarity():
    existing = {"memory/x.md": ["- 部署前先备份数据库", "- 喝水"], "experiences/3": ["部署前先通知团队"]}
    near = nearest("部署前先备份", existing)
    assert [where for _score, where, _line in near] == ["memory/x.md", "experiences/3"]
    assert all(0.2 < score <= 1 for score, _where, _line in near)
