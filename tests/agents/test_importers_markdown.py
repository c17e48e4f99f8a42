"""A Markdown file is one agent: front matter names it, the body is the role definition."""

import pytest

from agents.importers.items import FailedItem, ImportedAgent, SkippedItem
from agents.importers.markdown import is_pointer, read_markdown


def read(text, *, stem="file", in_folder=True):
    (item,) = read_markdown(text, "dir/file.md", stem, in_folder=in_folder)
    return item


def test_name_and_description_come_from_the_front_matter_and_the_role_from_the_body():
    item = read(
        "---\nname: 运维助手\ndescription: 排障\ntags: [a, 运维]\nskills: x, y\n---\n\n"
        "你是运维助手。\n\n---\n\n尾\n"
    )
    assert isinstance(item, ImportedAgent)
    assert (item.name, item.description) == ("运维助手", "排障")
    assert item.system_prompt == "你是运维助手。\n\n---\n\n尾"
    assert (item.tags, item.skill_names) == (("a", "运维"), ("x", "y"))
    assert (item.language, item.language_guessed) == ("zh", True)
    assert (item.source, item.warnings) == ("dir/file.md:1", ())


def test_a_colon_in_the_description_is_imported_with_a_warning_naming_file_and_line():
    item = read("---\ndescription: Phase 1: 需求澄清\nname: 起草\n---\n正文\n")
    assert item.description == "Phase 1: 需求澄清"
    assert len(item.warnings) == 1
    assert item.warnings[0].startswith("dir/file.md:2: ")


def test_bom_and_windows_line_ends_give_the_same_agent():
    text = "---\nname: a\ndescription: x\n---\n第一\n第二\n"
    assert read("\ufeff" + text.replace("\n", "\r\n")) == read(text)
    assert "\r" not in repr(read(text.replace("\n", "\r\n")))


@pytest.mark.parametrize(
    "text", ["你是助手。", "---\ndescription: x\n---\n你是助手。", "---\nname: [a]\n---\n你是助手。"]
)
def test_without_a_name_the_file_name_is_the_name_with_a_warning(text):
    item = read(text, stem="值班 助手")
    assert item.name == "值班 助手"
    assert "dir/file.md:1: " in item.warnings[-1]


@pytest.mark.parametrize("stem", ["README", "readme.zh-CN", "CHANGELOG", "license", "SECURITY.en"])
def test_pages_about_a_folder_are_skipped_in_a_folder_only(stem):
    text = "# Collection\n\ntext"
    assert isinstance(read(text, stem=stem), SkippedItem)
    assert isinstance(read(text, stem=stem, in_folder=False), ImportedAgent)
    assert isinstance(read(f"---\nname: x\n---\n{text}", stem=stem), ImportedAgent)


@pytest.mark.parametrize("stem", ["security-auditor", "license-checker", "changelog-writer"])
def test_agents_with_a_similar_name_are_not_skipped(stem):
    assert isinstance(read("You check.", stem=stem), ImportedAgent)


@pytest.mark.parametrize(
    "text",
    [
        "CLAUDE.md",
        "@AGENTS.md\n",
        "@./docs/规则.md\n@b.md\n",
        "See CLAUDE.md.",
        "参见：AGENTS.md",
        "[x](../CLAUDE.md)",
    ],
)
def test_a_file_that_only_points_to_another_is_skipped(text):
    item = read(text)
    assert isinstance(item, SkippedItem)
    assert item.reason == "pointer, nothing imported"
    assert isinstance(read(f"---\nname: x\n---\n{text}"), SkippedItem)


@pytest.mark.parametrize(
    "text", ["", "Read CLAUDE.md and answer.", "你是 CLAUDE.md 的作者。", "- a.md: 说明"]
)
def test_a_text_with_words_of_its_own_is_no_pointer(text):
    assert not is_pointer(text)


@pytest.mark.parametrize(
    ("stated", "language", "guessed"),
    [
        ("zh-CN", "zh", False),
        ("en", "en", False),
        ("English", "en", False),
        ("中文", "zh", False),
        ("ja", "en", True),
    ],
)
def test_a_stated_language_counts_and_an_unknown_one_is_guessed(stated, language, guessed):
    item = read(f"---\nname: x\nlanguage: {stated}\n---\nYou answer briefly.")
    assert (item.language, item.language_guessed) == (language, guessed)
    assert bool(item.warnings) == guessed


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("You are an expert.", "en"),
        ("你是专家，用 Python 和 Django 写代码。", "zh"),
        ("You help with 飞书 (Feishu) integrations and bots.", "en"),
        ("12345", "zh"),
    ],
)
def test_the_language_is_guessed_from_the_start(text, language):
    assert read(text, stem="1").language == language


@pytest.mark.parametrize(
    ("text", "stem", "numbers"),
    [
        ("---\nname: x\n---\n \u200b\n", "f", ("role definition",)),
        (f"---\nname: {'名' * 101}\n---\nrole", "f", ("100", "101", "1")),
        (f"---\nname: x\ndescription: {'字' * 1005}\n---\nrole", "f", ("1000", "1005", "5")),
        ("字" * 100_002, "f", ("100000", "100002", "2")),
        (f"---\nname: x\ntags: [{'t' * 31}]\n---\nrole", "f", ("30", "31")),
        ('---\nname: "a\\0b"\n---\nrole', "f", ("name",)),
    ],
)
def test_what_is_over_a_limit_fails_with_limit_actual_and_excess(text, stem, numbers):
    item = read(text, stem=stem)
    assert isinstance(item, FailedItem)
    assert item.source == "dir/file.md:1"
    assert all(number in item.reason for number in numbers)


def test_every_fault_is_named_at_once():
    item = read(f"---\nname: {'n' * 101}\ndescription: {'d' * 1001}\n---\n")
    assert all(field in item.reason for field in ("name", "description", "role definition"))


def test_texts_at_the_limit_are_imported_whole():
    item = read(f"---\nname: {'😀' * 100}\ndescription: {'字' * 1000}\n---\n" + "r" * 100_000)
    assert (len(item.name), len(item.description), len(item.system_prompt)) == (100, 1000, 100_000)
