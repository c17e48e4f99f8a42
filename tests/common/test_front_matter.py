"""Front matter is read leniently; what was read differently from how it is written is said with its line."""

import time

import pytest

from common.errors import ApplicationError
from common.front_matter import MAX_FRONT_MATTER_BYTES, read_mapping, split_front_matter


def lines_of(result):
    return [warning.line for warning in result.warnings]


@pytest.mark.parametrize(
    ("entry", "value", "warned"),
    [
        ("Phase 1: 需求澄清", "Phase 1: 需求澄清", True),
        (
            "Use it when asked. Triggers on: 'GDPR', 'CCPA'.",
            "Use it when asked. Triggers on: 'GDPR', 'CCPA'.",
            True,
        ),
        ("**/*", "**/*", True),
        ("*.md", "*.md", True),
        ("&anchor text", "&anchor text", True),
        ("!!python/object:x y", "!!python/object:x y", True),
        ("@AGENTS.md", "@AGENTS.md", True),
        ("`code`", "`code`", True),
        ("[x] 完成", "[x] 完成", True),
        ('"He said "hi""', 'He said "hi"', True),
        ("第一: 第二 # 注释", "第一: 第二", True),
        ("plain", "plain", False),
        ("需求澄清 # 注释", "需求澄清", False),
        ("C# and a#b", "C# and a#b", False),
        ('"Phase 1: 需求"', "Phase 1: 需求", False),
        ("null", None, False),
        ("", None, False),
        ("[甲, b]", ["甲", "b"], False),
        ("2026-08-19", "2026-08-19", False),
    ],
)
def test_a_value_is_read_as_its_writer_meant_it(entry, value, warned):
    result = split_front_matter(f"---\nname: 甲\ndescription: {entry}\n---\n正文\n")
    assert result.meta == {"name": "甲", "description": value}
    assert result.body == "正文\n"
    assert lines_of(result) == ([3] if warned else [])


def test_a_bom_and_windows_line_ends_give_the_same_record():
    text = "---\nid: EXP-004\nexpires: null\ndescription: Phase 1: 需求\n---\n\n正文\n第二行\n"
    assert split_front_matter("\ufeff" + text.replace("\n", "\r\n")) == split_front_matter(text)
    assert split_front_matter(text.replace("\n", "\r")) == split_front_matter(text)


def test_rules_inside_the_body_stay_in_the_body():
    result = split_front_matter("---\nname: a\n---\nintro\n\n---\n\nstatus: 不是元数据\n---\nend")
    assert result.meta == {"name": "a"}
    assert result.body == "intro\n\n---\n\nstatus: 不是元数据\n---\nend"
    assert result.body_line == 4
    assert result.found


@pytest.mark.parametrize(
    "text",
    [
        "---\nname: 未关闭\n正文",
        "---",
        "---\n只是一段话。\n---\n正文",
        "---\njust prose\n---\nmore",
        "---\nname: x\n\n# Title\nprose of the body\n---\nmore",
        "---\n# Title\n---\nbody",
        "---\n- a\n- b\n---\nbody",
    ],
)
def test_what_is_no_closed_mapping_stays_in_the_body_with_a_warning(text):
    result = split_front_matter(text)
    assert result.meta == {}
    assert result.body == text
    assert lines_of(result) == [1]
    assert not result.found


@pytest.mark.parametrize("text", ["", "正文", "# Title\n\n---\n\nname: x\n---\n", " ---\nname: x\n---\n"])
def test_a_text_that_does_not_start_with_a_rule_is_all_body(text):
    result = split_front_matter(text)
    assert (result.meta, result.body, result.warnings) == ({}, text, [])


def test_an_empty_block_is_front_matter_without_keys():
    result = split_front_matter("---\n\n---\nbody")
    assert (result.meta, result.body, result.found, result.warnings) == ({}, "body", True, [])


def test_lists_and_mappings_below_a_key_are_recovered_line_by_line():
    text = "---\n# c\nx: a: b\n# c\ntags:\n# c\n  - p: q: r\n  - 乙\n  - *z\nm:\n  a: b: c\n  d: 1\n---\n"
    result = split_front_matter(text)
    assert result.meta == {"x": "a: b", "tags": ["p: q: r", "乙", "*z"], "m": {"a": "b: c", "d": 1}}
    assert lines_of(result) == [3, 7, 9, 11]


def test_folded_text_and_tabs_are_read():
    text = "---\nd: >\n\tfoo: bar\n\t甲乙\ntags:\n\t- q\nbad: x: y\n---\n"
    assert split_front_matter(text).meta == {"d": "foo: bar 甲乙", "tags": ["q"], "bad": "x: y"}


def test_a_repeated_key_counts_once_and_is_reported():
    result = split_front_matter("---\nname: 甲\nname: 乙\n---\n")
    assert result.meta == {"name": "甲"}
    assert lines_of(result) == [3]


def test_a_broken_line_is_joined_to_the_value_above():
    result = split_front_matter("---\nd: 第一\n第二 third\nname: x\n---\n")
    assert result.meta == {"d": "第一 第二 third", "name": "x"}
    assert lines_of(result) == [3]


def test_a_full_width_colon_counts_after_an_ascii_word_only():
    assert split_front_matter("---\nname：运维\n---\n").meta == {"name": "运维"}
    assert split_front_matter("---\n注意：这是正文。\n---\n").meta == {}


def test_an_alias_bomb_stays_inert_text():
    result = split_front_matter("---\na: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n---\nbody")
    assert result.meta == {"a": "&a [x, x]", "b": "&b [*a, *a]", "c": "[*b, *b]"}


def test_an_oversized_block_is_refused_with_limit_and_excess():
    with pytest.raises(ApplicationError) as caught:
        split_front_matter("---\nd: " + "字" * 30_000 + "\n---\nbody")
    assert str(MAX_FRONT_MATTER_BYTES) in str(caught.value.message)
    assert caught.value.extra["line"] == 2


@pytest.mark.parametrize(
    "block",
    [
        "a: *\n" * 12_000,
        "a: b: c\na" + " " * 60_000,
        "x: *" + " " * 60_000,
        "a: " + "[" * 60_000,
        '"' * 60_000,
        "\n".join(" " * depth + "a:" for depth in range(340)) + "\nx: y: z",
    ],
    ids=["entries", "spaces in a key", "spaces in a value", "brackets", "quotes", "depth"],
)
def test_hostile_blocks_are_read_in_a_moment(block):
    started = time.process_time()
    split_front_matter(f"---\n{block}\n---\n")
    assert time.process_time() - started < 20


def test_a_mapping_can_be_read_leniently_without_rules():
    meta, warnings = read_mapping("甲:\n  goal: Phase 1: x\n", first_line=10)
    assert meta == {"甲": {"goal": "Phase 1: x"}}
    assert [warning.line for warning in warnings] == [11]


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("name", "keys", "warned"),
    [
        ("agents/volt-gdpr-ccpa-compliance.md", {"name", "description", "tools"}, [3]),
        ("agents/agency-zk-steward.md", {"name", "description", "color", "emoji", "vibe"}, [3]),
        ("agents/wshobson-arm-cortex-expert.md", {"name", "description", "model", "tools"}, []),
        ("lessons/cursor-ai-agent-specialist.mdc", {"description", "globs", "alwaysApply"}, [3]),
        ("workflows/cortex-ship.en.md", {"name", "description"}, [3]),
        ("adr/nygard-0001.md", set(), []),
    ],
)
def test_real_front_matter_loses_no_key(shared_data, name, keys, warned):
    result = split_front_matter((shared_data / name).read_text(encoding="utf-8"))
    assert set(result.meta) == keys
    assert lines_of(result) == warned


@pytest.mark.shared_data
def test_a_real_record_saved_with_bom_and_crlf_is_the_same(shared_data):
    text = (shared_data / "lessons/EXP-004.zh.md").read_text(encoding="utf-8")
    result = split_front_matter("\ufeff" + text.replace("\n", "\r\n"))
    assert result == split_front_matter(text)
    assert "\r" not in repr(result)
    assert result.meta["date"] == "2026-08-19"
    assert result.meta["expires"] is None
    assert len(result.meta["related_files"]) == 3
