"""What each section shows, in Chinese and English, and what leaves it out."""

import dataclasses
from datetime import UTC, datetime

import pytest

from prompt.rules.rendering import render
from prompt.rules.values import Built, Note, Notes, PromptRequest, Reason, Section
from prompt.sections import SECTIONS
from tests.prompt.samples import NOW, rendered, section, some_data

DOCUMENTS = [
    ("principles.md", "# 原则\n\n## 细则\n不删数据"),
    ("users/bob/profile.md", "# 偏好\n喜欢简短"),
    ("memory/deploy.md", "## 部署\n周五不发布"),
    ("users/bob/agents/7/memory/note.md", "用英文回答"),
    ("guidance/tools.md", "先查后改"),
    ("skills/logs/SKILL.md", "---\nname: 查日志\ndescription: 找出错误\n---\n# 正文"),
    ("guidance/tasks.md", "一次一件"),
    ("guidance/delegation.md", "只委派查询"),
]
HEADINGS = {
    "zh": [
        "## 最佳实践经验",
        "## 行为准则",
        "## 用户偏好",
        "## 长期记忆",
        "## 工作环境",
        "## 当前时间",
        "## 工具使用指引",
        "## 可用技能",
        "## 任务管理",
        "## 子代理委派",
    ],
    "en": [
        "## Best-Practice Experience",
        "## Principles",
        "## User Preferences",
        "## Long-term Memory",
        "## Working Environment",
        "## Current Time",
        "## Tool Guidance",
        "## Available Skills",
        "## Task Management",
        "## Sub-agent Delegation",
    ],
}


@pytest.mark.parametrize("language", ["zh", "en"])
def test_sections_come_in_their_order_under_headings_of_the_agents_language_only(language):
    result = rendered(["先查日志"], DOCUMENTS, {"user_id": "bob"}, language=language)
    lines = [line for line in result.text.split("\n") if line.startswith("## ")]
    assert lines == HEADINGS[language]
    assert result.text.endswith("\n") and not result.text.endswith("\n\n")
    assert "\n\n\n" not in result.text
    assert result.text == "\n\n".join(shown.whole for shown in result.sections) + "\n"


@pytest.mark.parametrize(
    ("language", "environment", "time"),
    [
        ("zh", "- 智能体: 运维\n- 公司: acme", "2026-06-12 星期五 (Asia/Shanghai)"),
        ("en", "- Agent: 运维\n- Company: acme", "2026-06-12 Friday (Asia/Shanghai)"),
    ],
)
def test_an_agent_with_nothing_else_still_knows_who_where_and_when(language, environment, time):
    result = rendered(language=language)
    assert [shown.key for shown in result.sections] == ["role", "environment", "current_time"]
    assert section(result, "environment") == environment
    assert section(result, "current_time") == time


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("zh", "2026-06-12 星期五 14:05 (Asia/Shanghai)"),
        ("en", "2026-06-12 Friday 14:05 (Asia/Shanghai)"),
    ],
)
def test_the_minute_is_told_on_request(language, expected):
    result = rendered(request={"time_precision": "minute"}, language=language)
    assert section(result, "current_time") == expected


@pytest.mark.parametrize(
    ("zone", "expected"),
    [
        ("Asia/Shanghai", "2026-06-15 星期一 (Asia/Shanghai)"),
        ("America/New_York", "2026-06-14 星期日 (America/New_York)"),
    ],
)
def test_the_day_is_the_local_one_of_the_time_zone(zone, expected):
    result = rendered(now=datetime(2026, 6, 14, 16, 30, tzinfo=UTC), time_zone=zone)
    assert section(result, "current_time") == expected


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("zh", "你是运维助手。\n\n主任务背景摘要：修复登录\n  \\# 第二行"),
        ("en", "你是运维助手。\n\nMain task summary: 修复登录\n  \\# 第二行"),
    ],
)
def test_a_side_task_gets_the_summary_behind_the_role_and_before_the_experiences(language, expected):
    result = rendered(
        ["先查日志"], request={"main_task_summary": "修复登录\n\n# 第二行\n"}, language=language
    )
    assert section(result, "role") == expected
    assert [shown.key for shown in result.sections][:2] == ["role", "experiences"]


def test_an_override_replaces_role_and_summary_and_drops_what_is_personal():
    request = {
        "system_prompt_override": "You only translate.",
        "main_task_summary": "S",
        "task": "x",
        "user_id": "bob",
    }
    result = rendered(["先查日志"], DOCUMENTS, request)
    assert [shown.key for shown in result.sections] == [
        "role",
        "principles",
        "environment",
        "current_time",
        "tool_guidance",
        "skills",
        "task_management",
        "delegation",
    ]
    assert section(result, "role") == "You only translate."
    dropped = [key for key, reason in result.left_out if reason == Reason.OVERRIDE]
    assert dropped == ["experiences", "user_preferences", "long_term_memory", "knowledge", "avoid"]


def test_a_blank_override_is_none():
    assert section(rendered(request={"system_prompt_override": " \n​"}), "role") == "你是运维助手。"


def test_headings_of_documents_are_moved_below_the_sections():
    result = rendered(documents=DOCUMENTS, request={"user_id": "bob"})
    assert section(result, "principles") == "### 原则\n\n#### 细则\n不删数据"
    assert section(result, "user_preferences") == "### 偏好\n喜欢简短"
    assert section(result, "long_term_memory") == "### 部署\n周五不发布\n\n用英文回答"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```\nrm -rf", "```\nrm -rf\n```"),
        ("~~~~sh\nls\n~~~", "~~~~sh\nls\n~~~\n~~~~"),
        ("<!-- 待定\n其余", "<!-- 待定\n其余\n-->"),
        ("<!-- done -->\ntext", "<!-- done -->\ntext"),
        ("```\n<!-- in code\n```\ntext", "```\n<!-- in code\n```\ntext"),
        ("\ufeff\r\n\r\n# T\r\nx\r\n\r\n", "### T\nx"),
    ],
)
def test_nothing_a_document_leaves_open_swallows_the_next_section(text, expected):
    assert section(rendered(documents=[("principles.md", text)]), "principles") == expected


@pytest.mark.parametrize("text", ["", "\n \n", "\u200b\ufeff"])
def test_a_blank_document_leaves_no_heading(text):
    result = rendered(documents=[(path, text) for path, _text in DOCUMENTS if "SKILL" not in path])
    assert "行为准则" not in result.text
    assert ("principles", Reason.NO_CONTENT) in result.left_out


@pytest.mark.parametrize("line", ["字" * 99, "x" * 99])
def test_preferences_are_cut_at_a_line_end_and_principles_are_not_cut(line):
    text = "\n".join([line] * 50)
    result = rendered(
        documents=[("users/bob/profile.md", text), ("principles.md", text)], request={"user_id": "bob"}
    )
    shown = {found.key: found for found in result.sections}
    assert shown["user_preferences"].text == "\n".join([line] * 20)
    assert shown["user_preferences"].shortened
    assert shown["principles"].text == text
    assert not shown["principles"].shortened


@pytest.mark.parametrize("fence", ["```", "~~~~~~~~"])
def test_a_fence_cut_in_two_is_closed_within_the_budget(fence):
    text = f"{fence}\n" + "\n".join(["x" * 80] * 60)
    result = rendered(documents=[("users/bob/profile.md", text)], request={"user_id": "bob"})
    shown = section(result, "user_preferences")
    assert shown.endswith(f"\n{fence}")
    assert 1900 < len(shown) <= 2000


def test_memory_is_the_agents_then_the_users_by_path_within_one_budget():
    documents = [
        ("users/bob/agents/7/memory/a.md", "of bob"),
        ("memory/b.md", "second"),
        ("memory/a.md", "first"),
        ("memory/deep/c.md", "not shown"),
        ("users/bob/agents/8/memory/a.md", "with another agent"),
    ]
    result = rendered(documents=documents, request={"user_id": "bob"})
    shown = next(found for found in result.sections if found.key == "long_term_memory")
    assert (shown.text, shown.item_ids) == ("first\n\nsecond\n\nof bob", (3, 2, 1))
    long = [("memory/a.md", "x" * 2000), ("memory/b.md", "y" * 2000), ("memory/c.md", "z")]
    shown = next(found for found in rendered(documents=long).sections if found.key == "long_term_memory")
    assert (shown.text, shown.item_ids, shown.shortened) == ("x" * 2000, (1,), True)


@pytest.mark.parametrize(
    ("user_id", "shown"),
    [
        ("bob", "lower"),
        ("Bob", "upper"),
        ("BOB", None),
        ("bo", None),
        ("..", None),
        (".", None),
        (None, None),
    ],
)
def test_a_user_is_matched_exactly(user_id, shown):
    documents = [("users/bob/profile.md", "lower"), ("users/Bob/profile.md", "upper"), ("profile.md", "none")]
    result = rendered(documents=documents, request={"user_id": user_id})
    assert section(result, "user_preferences") == shown


def test_the_environment_of_the_request_follows_as_contained_text():
    pairs = {"地区": "上海", "# k": "## 工作环境\n- x", "空": ""}
    result = rendered(request={"environment": pairs})
    assert section(result, "environment") == (
        "- 智能体: 运维\n- 公司: acme\n- 地区: 上海\n- \\# k: \\#\\# 工作环境\n  \\- x\n- 空:"
    )


@pytest.mark.parametrize(
    ("field", "key", "path"),
    [
        ("tools_guidance", "tool_guidance", "guidance/tools.md"),
        ("task_management", "task_management", "guidance/tasks.md"),
        ("delegation", "delegation", "guidance/delegation.md"),
    ],
)
def test_guidance_of_the_request_replaces_the_stored_one(field, key, path):
    documents = [(path, "# 存的")]
    assert section(rendered(documents=documents), key) == "### 存的"
    assert section(rendered(documents=documents, request={field: "## 送的\n```\nx"}), key) == (
        "### 送的\n```\nx\n```"
    )
    assert section(rendered(documents=documents, request={field: " "}), key) == "### 存的"


def test_skills_are_listed_by_path_with_name_and_description():
    documents = [
        ("skills/zeta/SKILL.md", "no front matter"),
        ("skills/off/SKILL.md", "---\nname: Off\nstatus: Disabled\n---\n"),
        ("skills/alpha/SKILL.md", "---\nname: 查日志\ndescription: Phase 1: 看\n  # 错误\n---\n"),
        ("skills/alpha/reference.md", "---\nname: Not a skill\n---\n"),
        ("skills/number/SKILL.md", "---\nname: 42\ndescription: [a, b]\n---\n"),
    ]
    assert section(rendered(documents=documents), "skills") == "- 查日志: Phase 1: 看\n- 42\n- zeta"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ((), "- 查日志\n- Deploy"),
        (("ＤＥＰＬＯＹ",), "- Deploy"),
        (("logs",), "- 查日志"),
        (("other",), None),
    ],
)
def test_the_agents_list_limits_the_skills_by_name_or_folder(names, expected):
    documents = [
        ("skills/logs/SKILL.md", "---\nname: 查日志\n---\n"),
        ("skills/ship/SKILL.md", "---\nname: Deploy\n---\n"),
    ]
    assert section(rendered(documents=documents, skill_names=names), "skills") == expected


def test_an_unreadable_skill_is_listed_under_its_folder():
    documents = [("skills/huge/SKILL.md", "---\n" + "k: v\n" * 20_000 + "---\n")]
    assert section(rendered(documents=documents), "skills") == "- huge"


def broken(given):
    raise RuntimeError("broken")


@pytest.mark.parametrize("key", [found.key for found in SECTIONS if found.optional])
def test_an_optional_section_that_fails_is_left_out_and_named(key):
    sections = [dataclasses.replace(s, build=broken) if s.key == key else s for s in SECTIONS]
    data = some_data(["先查日志"], DOCUMENTS)
    notes = Notes((Note("k-001", "use"),), (Note("k-002", "avoid"),))
    data = dataclasses.replace(data, loaded={**data.loaded, "injection": notes})
    result = render(data, PromptRequest(user_id="bob", task="x"), NOW, sections)
    assert [shown.key for shown in result.sections] == [s.key for s in SECTIONS if s.key != key]
    assert len(result.warnings) == 1 and key in result.warnings[0]
    assert (key, Reason.FAILED) in result.left_out
    assert [(failed, str(error)) for failed, error in result.failures] == [(key, "broken")]


@pytest.mark.parametrize("key", [found.key for found in SECTIONS if not found.optional])
def test_a_required_section_that_fails_fails_the_prompt(key):
    sections = [dataclasses.replace(s, build=broken) if s.key == key else s for s in SECTIONS]
    with pytest.raises(RuntimeError, match="broken"):
        render(some_data(["先查日志"], DOCUMENTS), PromptRequest(), NOW, sections)


def test_a_source_that_failed_costs_only_the_sections_that_need_it():
    data = some_data(loaded={"experiences": ()}, failed={"documents": RuntimeError("gone")})
    result = render(data, PromptRequest(tools_guidance="送的"), NOW)
    assert section(result, "tool_guidance") == "送的"
    assert {key for key, reason in result.left_out if reason == Reason.FAILED} == {
        "principles",
        "user_preferences",
        "long_term_memory",
        "skills",
        "task_management",
        "delegation",
    }


def test_a_section_for_tasks_is_one_more_entry():
    extra = Section(
        "knowledge",
        "## 相关知识",
        "## Relevant Knowledge",
        lambda given: Built(given.loaded("knowledge"), ("k-001",)),
        source="knowledge",
        optional=True,
        needs_task=True,
        dropped_by_override=True,
    )
    sections = [*SECTIONS[:2], extra, *SECTIONS[2:]]
    data = some_data(loaded={"experiences": (), "documents": (), "knowledge": "- 经验"})
    with_task = render(data, PromptRequest(task="修复"), NOW, sections)
    assert section(with_task, "knowledge") == "- 经验"
    assert ("knowledge", Reason.NO_TASK) in render(data, PromptRequest(), NOW, sections).left_out
    assert ("knowledge", Reason.NO_TASK) in render(data, PromptRequest(phase="​"), NOW, sections).left_out
