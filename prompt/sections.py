"""The order of a prompt. A new section is one entry here, and one source in the services if it needs data."""

from functools import partial

from prompt.rules import builders
from prompt.rules.values import Section

_document = partial(Section, source="documents", optional=True)
_personal = partial(_document, dropped_by_override=True)
_learnt = partial(Section, source="injection", optional=True, needs_task=True, dropped_by_override=True)
_rows = partial(Section, source="experiences", dropped_by_override=True)

SECTIONS: tuple[Section, ...] = (
    Section("role", "", "", builders.role),
    _rows("experiences", "## 最佳实践经验", "## Best-Practice Experience", builders.experiences),
    _document("principles", "## 行为准则", "## Principles", builders.principles),
    _personal("user_preferences", "## 用户偏好", "## User Preferences", builders.user_preferences),
    _personal("long_term_memory", "## 长期记忆", "## Long-term Memory", builders.long_term_memory),
    _learnt("knowledge", "## 相关知识", "## Relevant Knowledge", builders.relevant_knowledge),
    _learnt("avoid", "## 避免事项", "## Avoid", builders.avoid, also=("lessons",)),
    Section("environment", "## 工作环境", "## Working Environment", builders.environment),
    Section("current_time", "## 当前时间", "## Current Time", builders.current_time),
    _document("tool_guidance", "## 工具使用指引", "## Tool Guidance", builders.tool_guidance),
    _document("skills", "## 可用技能", "## Available Skills", builders.skills),
    _document("task_management", "## 任务管理", "## Task Management", builders.task_management),
    _document("delegation", "## 子代理委派", "## Sub-agent Delegation", builders.delegation),
)
