"""What is read from a correction."""

import pytest

from evolution.memory.rules.correcting import Correction, correction
from evolution.memory.rules.skills import SkillCue
from tests.memory.defaults import LEXICON, without

CONTRACT = SkillCue("contract-review", ("contract", "合同"))


def test_the_example_of_the_contract_names_its_skill():
    found = correction("不对，合同金额要用大写数字", LEXICON, [CONTRACT])
    assert found == Correction(rule="合同金额要用大写数字", domain="contract", skill="contract-review")
    assert found.type == "error_correction"


@pytest.mark.parametrize(
    ("text", "rule", "wrong", "correct"),
    [
        ("不对，日期用横线", "日期用横线", None, None),
        ("That's wrong, dates use hyphens", "dates use hyphens", None, None),
        ("不对，不是100,000元，是壹拾万元整。", "不是100,000元，是壹拾万元整", "100,000元", "壹拾万元整"),
        ("That’s wrong: not v1.2 but v1.3.", "not v1.2 but v1.3", "v1.2", "v1.3"),
        ("不对，税率不是13%而是6%，谢谢", "税率不是13%而是6%", "13%", "6%"),
        ("That's wrong, it is not UTC, but rather CET", "it is not UTC, but rather CET", "UTC", "CET"),
        ("不对。标题应改为季度总结", "标题应改为季度总结", "标题", "季度总结"),
        ("不对，重新来，标题应该改成《总结》", "标题应该改成《总结》", "标题", "《总结》"),
        ("不是三月，是四月", "不是三月，是四月", "三月", "四月"),
        ("Not March but April", "Not March but April", "March", "April"),
        ("端口应改为８４４３", "端口应改为８４４３", "端口", "８４４３"),
        ("好的，但是不对，用 Y", "用 Y", None, None),
        ("第二行不对\n应该是 5", "应该是 5", None, None),
    ],
)
def test_a_correction_is_taken_apart(text, rule, wrong, correct):
    found = correction(text, LEXICON)
    assert (found.rule, found.wrong, found.correct) == (rule, wrong, correct)


@pytest.mark.parametrize(
    "text",
    [
        "不对",
        "That's wrong.",
        "不对，谢谢",
        "不对，重新来",
        "that's wrong, please try again",
        "不对吗，我看挺好",
        "不对，为什么？",
        "没什么不对，日期用横线",
        "It's not wrong, dates use hyphens",
        "“不对，日期用横线”是什么意思",
        "Not only March but also April",
        "The month is not March but I forgot which",
        "文档里说，端口应改为 8443",
    ],
)
def test_no_correction(text):
    assert correction(text, LEXICON) is None


def test_without_negative_phrases_only_the_fixed_forms_remain():
    assert correction("不对，日期用横线", without("negative")) is None
    assert correction("不是三月，是四月", without("negative")) is not None


def test_a_skill_without_words_is_its_own_domain():
    found = correction("不对，deploy 要先备份", LEXICON, [SkillCue("deploy")])
    assert (found.domain, found.skill) == ("deploy", "deploy")
