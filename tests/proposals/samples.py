"""Items as runtimes send them."""

NOTE = {"type": "knowledge", "operation": "update", "target": "memory/notes.md", "content": "先备份"}
RULE = {"type": "behavior_rule", "operation": "update", "target": "principles.md", "content": "报告必须附图"}
PREFERENCE = {
    "type": "user_preference",
    "operation": "update",
    "target": "users/u1/profile.md",
    "content": "用表格",
}
LESSON = {"type": "experience", "operation": "add_experience", "content": "先查日志"}

PRINCIPLES = "# 原则\n\n## 绝不做\n\n- 泄露密钥\n\n## 规则\n\n- 先看日志\n"
PERSONA = "# L0 — 核心身份\n\n我是秘书。\n\n# L01 附录\n\n说话简短。\n"
SETTINGS = '{"llm": "a", "access_control": {"read": ["x"]}, "privacy": {"log": false}}'


def note(content: str, **changes) -> dict:
    """An item for memory/notes.md."""
    return {**NOTE, "content": content, **changes}


def whole(target: str, text: str, **changes) -> dict:
    """An item with a whole new text."""
    return {"type": "role", "operation": "update", "target": target, "new_text": text, **changes}
