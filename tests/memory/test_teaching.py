"""What is kept of a teaching: type, content, skill; where the content comes from."""

import pytest

from evolution.memory.rules.skills import SkillCue
from evolution.memory.rules.teaching import intent
from tests.memory.defaults import LEXICON

CONTRACT = SkillCue("contract-review", ("contract", "合同"))
REPORT = SkillCue("weekly-report", ("report", "周报", "report template"))


def taught(text, previous=None, skills=()):
    found = intent(text, LEXICON, previous, skills)
    return found and (str(found.type), found.content)


def test_the_example_of_tables_is_a_preference():
    assert taught("记住，我喜欢你用表格来展示对比信息") == ("user_preference", "用表格来展示对比信息")


@pytest.mark.parametrize(
    "text", ["不用记住这个", "你最近学到了什么", "What have you learned?", "没什么不对", ""]
)
def test_nothing_is_taught(text):
    assert taught(text, "earlier") is None


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("记住：报价不含税。", "报价不含税"),
        ("Remember this: prices are without VAT.", "prices are without VAT"),
        ("记住——报价不含税！谢谢", "报价不含税"),
        ("Remember this – prices are without VAT. Thanks!", "prices are without VAT"),
        ("记住,请用 ISO 日期", "用 ISO 日期"),
        ("remember this,please use ISO dates", "use ISO dates"),
        ("记住，请求必须带 token", "请求必须带 token"),
        ("记住，我希望你先给结论", "先给结论"),
        ("From now on, I'd like you to start with the result", "start with the result"),
        ("记住我希望你请先问", "先问"),
        ("记住了：金额单位是万元", "金额单位是万元"),
        ("这是规则，这很重要：先审后发", "先审后发"),
        ("This matters, remember this: review before sending", "review before sending"),
        ("记住这个规则：先审后发", "先审后发"),
        ("Remember this rule: review before sending", "review before sending"),
        ("记住：先审后发，这很重要", "先审后发"),
        ("From now on review before sending, ok?", "review before sending"),
        ("记住：a\n- b\n- c", "a\n- b\n- c"),
        ("记住：密码是 `don't never`", "密码是 `don't never`"),
        ("ＲＥＭＥＭＢＥＲ ＴＨＩＳ：Ｘ１", "Ｘ１"),
        ("记住：.env 不提交", ".env 不提交"),
        ("Remember this: -5 is the limit", "-5 is the limit"),
        ("记住 ~/bin 里有脚本", "~/bin 里有脚本"),
        ("remember this: ../shared is read-only", "../shared is read-only"),
        ("记住：- a\n- b", "a\n- b"),
    ],
)
def test_content_is_what_follows_the_phrase(text, content):
    assert taught(text, "earlier")[1] == content


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("回答都用表格，以后都这样", "回答都用表格"),
        ("Always answer with a table. Remember this.", "Always answer with a table"),
        ("Use tabs from now on", "Use tabs"),
        ("好的，金额一律大写，这是规则", "金额一律大写"),
        ("Thanks! We ship on Mondays, remember this for next time", "We ship on Mondays"),
        ("请先给结论，记住这个", "先给结论"),
    ],
)
def test_else_content_is_what_stands_before_it(text, content):
    assert taught(text, "earlier")[1] == content


@pytest.mark.parametrize(
    "text",
    [
        "记住这个",
        "Remember this!",
        "以后都这样",
        "以后都这样回答",
        "能记住这个吗？",
        "Can you remember this for next time?",
        "可以帮我记住这个链接吗？",
        "Could you remember this link?",
        "好的，谢谢，记下来",
        "Great, remember this",
        "你写得很好，以后都这样",
        "This is perfect, remember this",
        "我希望你记住这一点",
    ],
)
def test_else_content_is_the_previous_message(text):
    assert taught(text, "  回答用表格  ") == ("knowledge", "回答用表格")
    for nothing in (None, "", " \n"):
        empty = intent(text, LEXICON, nothing)
        assert (empty.content, empty.needs_content) == ("", True)


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("不要再用表格", "不要用表格"),
        ("以后不要再用表格", "不要用表格"),
        ("以后别用表格，谢谢", "不要用表格"),
        ("Never use tables", "Never use tables"),
        ("never ever use tables, please", "Never use tables"),
        ("Don't use tables again!", "Never use tables"),
        ("Don’t use tables again in reports", "Never use tables in reports"),
        ("I don't want you to use tables again", "Never use tables"),
        ("能不能不要再用表格？", "不要用表格"),
        ("记住，以后不要用表格", "不要用表格"),
        ("From now on, never use tables", "Never use tables"),
    ],
)
def test_what_is_forbidden_is_kept_as_a_prohibition(text, content):
    assert taught(text, "earlier") == ("behavior_rule", content)


@pytest.mark.parametrize(
    ("text", "content"),
    [("不要再这样了", "不要这样：你好呀"), ("Don't do that again", "Never do this: 你好呀")],
)
def test_a_prohibition_that_only_points_forbids_the_previous_message(text, content):
    assert taught(text, "你好呀") == ("behavior_rule", content)
    assert intent(text, LEXICON).needs_content


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("记住，我喜欢表格", "user_preference"),
        ("remember this: I prefer tables", "user_preference"),
        ("remember this: I really like tables", "user_preference"),
        ("remember this: tools like git are installed", "knowledge"),
        ("记住，我想想再说", "knowledge"),
        ("记住，我希望周报必须简短", "user_preference"),
        ("记住，我们公司在上海", "relationship_memory"),
        ("remember this: our company is in Shanghai", "relationship_memory"),
        ("记住，我在财务部，必须看原件", "relationship_memory"),
        ("记住，给我在结尾加总结", "knowledge"),
        ("记住，合同必须双签", "behavior_rule"),
        ("remember this: contracts must be signed twice", "behavior_rule"),
        ("这是规则：双签", "behavior_rule"),
        ("记住，always use UTC", "behavior_rule"),
        ("记住，合同编号以 HT 开头", "skill_optimization"),
        ("remember this: a contract number starts with HT", "skill_optimization"),
        ("remember this: contractors are paid monthly", "knowledge"),
        ("remember this: in weekly report the date comes first", "skill_optimization"),
        ("记住，首都是北京", "knowledge"),
        ("remember this: the capital is Beijing", "knowledge"),
    ],
)
def test_the_first_cue_gives_the_type(text, expected):
    assert taught(text, None, [CONTRACT, REPORT])[0] == expected


@pytest.mark.parametrize(
    ("text", "skill"),
    [
        ("记住，合同编号以 HT 开头", "contract-review"),
        ("记住，周报写在合同后面", "contract-review"),
        ("记住，weekly report 里的合同要列出", "weekly-report"),
        ("remember this: the report template of a contract", "weekly-report"),
        ("记住，首都是北京", None),
        ("记住，合同必须双签", None),
    ],
)
def test_the_hint_names_the_skill(text, skill):
    assert intent(text, LEXICON, None, [CONTRACT, REPORT]).target_hint == skill


def test_the_previous_message_gives_the_type_too():
    assert taught("记住这个", "合同必须双签", [CONTRACT]) == ("behavior_rule", "合同必须双签")
    assert taught("记住这个", "合同编号以 HT 开头", [CONTRACT])[0] == "skill_optimization"


def test_skills_without_words_or_with_blank_ones_do_no_harm():
    assert taught("记住，x", None, [SkillCue("", ("", " ")), SkillCue("s")]) == ("knowledge", "x")
