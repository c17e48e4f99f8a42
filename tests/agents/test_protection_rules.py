"""What each rule says to a change, and what the check does when rules are missing or unreadable."""

import pytest

from agents.rules.protection import (
    DEFAULT_RULES,
    REASON_LABELS,
    Change,
    Level,
    Outcome,
    Reason,
    Rule,
    Verdict,
    check_change,
    protects_something,
    worst,
)
from common.errors import ApplicationError

PERSONA = "# 小秘书\n\n# L0 — 核心身份\n\n我是严谨的秘书。\n\n# L1 风格\n\n简洁。\n"
PRINCIPLES = (
    "# 行为准则\n\n## 始终做\n\n- 先确认\n\n## 绝不做\n\n- 泄露密钥\n- 伪造结果\n\n## 其他\n\n- 附图\n"
)
ENGLISH = "# Principles\n\n## Always\n\n- ask first\n\n## Never\n\n- leak keys\n\n## Other\n\n- cite\n"
AGENT = '{"llm": "a", "access_control": {"owner": 1, "open": false}, "privacy": {"level": 2}}'


def outcome(path, old, new, rules=DEFAULT_RULES):
    return worst(check_change(Change(path, old, new), rules))


GOLDEN = {
    "line added under 绝不做": (
        "principles.md",
        PRINCIPLES,
        PRINCIPLES.replace("- 伪造结果\n", "- 伪造结果\n- 新规则\n"),
        Outcome.BLOCKED,
    ),
    "line added under another heading": (
        "principles.md",
        PRINCIPLES,
        PRINCIPLES.replace("- 附图\n", "- 附图\n- 新规则\n"),
        Outcome.ALLOWED,
    ),
    "line added under Never": (
        "principles.md",
        ENGLISH,
        ENGLISH.replace("- leak keys\n", "- leak keys\n- new\n"),
        Outcome.BLOCKED,
    ),
    "line added under another English heading": (
        "principles.md",
        ENGLISH,
        ENGLISH.replace("- cite\n", "- cite\n- new\n"),
        Outcome.ALLOWED,
    ),
    "heading of L0 renamed, text equal": (
        "persona.md",
        PERSONA,
        PERSONA.replace("# L0 — 核心身份", "# 核心身份"),
        Outcome.BLOCKED,
    ),
    "L01 changed": (
        "persona.md",
        PERSONA + "\n# L01 附录\n\na\n",
        PERSONA + "\n# L01 附录\n\nb\n",
        Outcome.ALLOWED,
    ),
    "L01 changed, no L0": ("persona.md", "# L01 附录\n\na\n", "# L01 附录\n\nb\n", Outcome.ALLOWED),
    "llm changed, access_control equal": (
        "agent.json",
        AGENT,
        AGENT.replace('"a"', '"b"'),
        Outcome.ALLOWED,
    ),
}


@pytest.mark.parametrize(("path", "old", "new", "expected"), GOLDEN.values(), ids=GOLDEN.keys())
def test_the_examples_of_the_rule_book(path, old, new, expected):
    assert outcome(path, old, new).verdict is expected


def test_a_path_out_of_the_root_is_rejected():
    with pytest.raises(ApplicationError, match="PATH_INVALID"):
        check_change(Change("../other/persona.md", PERSONA, PERSONA), DEFAULT_RULES)


def test_without_an_enabled_rule_nothing_may_be_applied():
    with pytest.raises(ApplicationError, match="PROTECTED_PATHS_UNAVAILABLE"):
        check_change(Change("memory/notes.md", "a", "b"), [])


@pytest.mark.parametrize("rule", [Rule(7, ""), Rule(7, "../x"), Rule(7, "persona.md", level="often")])
def test_a_rule_that_cannot_be_read_stops_every_change(rule):
    with pytest.raises(ApplicationError) as caught:
        check_change(Change("memory/notes.md", "a", "b"), [*DEFAULT_RULES, rule])
    assert caught.value.code == "PROTECTED_PATHS_UNAVAILABLE"
    assert caught.value.extra == {"rule": "7"}


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (PERSONA, PERSONA, Reason.UNCHANGED),
        (PERSONA, PERSONA + "x", Reason.OUTSIDE),
        (None, "# L1\n", Reason.OUTSIDE),
        (None, PERSONA, Reason.SECTION_CREATED),
        ("# L1\n", PERSONA, Reason.SECTION_CREATED),
        (PERSONA, "# L1\n", Reason.SECTION_REMOVED),
        (PERSONA, PERSONA + "# L0\n", Reason.SECTION_REPEATED),
        (PERSONA, PERSONA.replace("严谨", "随便"), Reason.SECTION_CHANGED),
        (PERSONA, f"<details>\n\n{PERSONA}", Reason.SECTION_MOVED),
        (PERSONA, None, Reason.FILE_DELETED),
        ("# L1\n", None, Reason.FILE_DELETED),
        (None, None, Reason.UNCHANGED),
    ],
)
def test_a_verdict_says_why(old, new, reason):
    verdict = outcome("persona.md", old, new)
    allowed = reason in (Reason.UNCHANGED, Reason.OUTSIDE)
    assert (verdict.reason, verdict.is_allowed) == (reason, allowed)
    assert (verdict.path, verdict.section, verdict.level) == ("persona.md", "L0", Level.BLOCK)
    assert str(REASON_LABELS[reason])


@pytest.mark.parametrize(
    ("path", "old", "new", "expected"),
    [
        ("agent.json", AGENT, AGENT.replace("false", "true"), Outcome.NEEDS_OWNER),
        ("agent.json", AGENT, AGENT.replace("false", "0"), Outcome.NEEDS_OWNER),
        ("agent.json", AGENT, AGENT.replace('"level": 2', '"level": 3'), Outcome.NEEDS_OWNER),
        ("agent.json", AGENT, AGENT.replace("privacy", "Privacy"), Outcome.NEEDS_OWNER),
        ("agent.json", AGENT, AGENT[:-1] + ', "accessControl": {}}', Outcome.NEEDS_OWNER),
        ("agent.json", AGENT, AGENT[:-1] + ', "\\u0070rivacy ": {}}', Outcome.NEEDS_OWNER),
        ("agent.json", AGENT, '{"llm": "a"}', Outcome.NEEDS_OWNER),
        ("agent.json", AGENT, None, Outcome.NEEDS_OWNER),
        ("agent.json", None, AGENT, Outcome.NEEDS_OWNER),
        ("agent.json", None, '{"llm": "a"}', Outcome.ALLOWED),
        (
            "agent.json",
            AGENT,
            AGENT.replace('"owner": 1, "open": false', '"open":false,"owner":1'),
            "allowed",
        ),
        ("agent.json", AGENT, AGENT[:-1], Outcome.BLOCKED),
        ("agent.json", AGENT, "[]", Outcome.BLOCKED),
        ("agent.json", AGENT, AGENT[:-1] + ', "llm": "b"}', Outcome.BLOCKED),
        ("agent.json", AGENT, AGENT.replace("2", "NaN"), Outcome.BLOCKED),
        ("agent.json", "{", AGENT, Outcome.BLOCKED),
        ("tools/git/permissions.yaml", "a: 1", "a: 2", Outcome.NEEDS_OWNER),
        ("tools/permissions.yaml", "a: 1", "a: 1\n", Outcome.NEEDS_OWNER),
        ("tools/a/b/credentials.yaml", None, "", Outcome.BLOCKED),
        ("tools/git/readme.md", "a", "b", Outcome.ALLOWED),
        ("users/u1/privacy.md", "a", "b", Outcome.NEEDS_OWNER),
        ("users/u1/profile.md", "a", "b", Outcome.ALLOWED),
        ("users/u1/agents/7/relationship.md", "# 禁区\na", "# 禁区\nb", Outcome.NEEDS_CONFIRMATION),
        ("users/u1/agents/7/relationship.md", "# 喜好\na", "# 喜好\nb", Outcome.ALLOWED),
        ("system_prompt", "a", "b", Outcome.NEEDS_OWNER),
        ("memory/notes.md", None, "b", Outcome.ALLOWED),
    ],
)
def test_each_default_rule_holds(path, old, new, expected):
    assert outcome(path, old, new).verdict == expected


def test_a_path_that_no_rule_names_gets_one_allowed_verdict():
    assert check_change(Change("./Memory/x.md", None, "a"), DEFAULT_RULES) == [
        Verdict("Memory/x.md", Outcome.ALLOWED, Reason.NO_RULE)
    ]


def test_every_rule_that_names_the_path_has_its_say_and_the_strictest_wins():
    rules = [Rule(1, "*.md", level=Level.CONFIRM), Rule(2, "**", level=Level.OWNER_ONLY), *DEFAULT_RULES]
    verdicts = check_change(Change("persona.md", PERSONA, PERSONA + "x"), rules)
    assert [(verdict.rule.id, verdict.verdict.value) for verdict in verdicts] == [
        (1, "needs_confirmation"),
        (2, "needs_owner"),
        ("persona-core", "allowed"),
    ]
    assert worst(verdicts).rule.id == 2
    assert worst(check_change(Change("persona.md", PERSONA, None), rules)).rule.id == "persona-core"


def test_no_verdict_is_no_permission():
    with pytest.raises(ValueError, match="empty"):
        worst([])


@pytest.mark.parametrize("section", ["", "  ", "\u200b", "***"])
def test_a_rule_whose_section_says_nothing_protects_the_whole_file(section):
    rule = Rule(1, "notes.md", section)
    assert outcome("notes.md", "a", "a ", [rule]).verdict is Outcome.BLOCKED


def test_a_section_rule_reads_a_file_of_unknown_format_as_markdown():
    rule = Rule(1, "*.txt", "L0")
    assert outcome("a.txt", "# L0\na", "# L0\nb", [rule]).verdict is Outcome.BLOCKED
    assert outcome("a.txt", "# L1\na", "# L1\nb", [rule]).is_allowed


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("persona.md", PERSONA, True),
        ("persona.md", "# L1\n", False),
        ("other.md", PERSONA, False),
    ],
)
def test_it_is_known_whether_a_rule_protects_anything_yet(path, text, expected):
    assert protects_something(DEFAULT_RULES[0], path, text) is expected


def test_a_json_or_whole_file_rule_protects_what_is_there():
    access, tools = DEFAULT_RULES[2], DEFAULT_RULES[4]
    assert protects_something(access, "agent.json", AGENT)
    assert not protects_something(access, "agent.json", '{"llm": 1}')
    assert not protects_something(access, "agent.json", "{")
    assert protects_something(tools, "tools/x/permissions.yaml", "")
