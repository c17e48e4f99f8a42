"""A pattern library as a file: Markdown sections or a JSON list. Pure. docs/rules.md: pattern library."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

from common.errors import ApplicationError
from common.strict_json import loads
from common.text import fence_mask, normalise_newlines

_HEADING_RE = re.compile(
    r"#{2,4}[ \t]+(?:(?P<code>[Pp]-\d{3,18})(?:[ \t]*[:：.-][ \t]*|[ \t]+|$))?(?P<name>.*)"
)
_FIELD_RE = re.compile(
    r"[ \t]*(?:[-*+][ \t]+)?\*{0,2}(?P<key>[^*:：|]{1,30})\*{0,2}[ \t]*[:：][ \t]*\*{0,2}[ \t]*(?P<value>.*)"
)
_FENCE_RE = re.compile(r" {0,3}(?:`{3,}|~{3,})[ \t]*(?P<language>[\w+#.-]*)")
_NAMES = {
    "name": "name",
    "名称": "name",
    "category": "category",
    "分类": "category",
    "类别": "category",
    "description": "description",
    "描述": "description",
    "keywords": "keywords",
    "关键词": "keywords",
    "regex": "regex",
    "正则": "regex",
    "confidence": "confidence",
    "置信度": "confidence",
    "occurrences": "occurrences",
    "出现次数": "occurrences",
    "status": "status",
    "状态": "status",
    "language": "template_language",
    "template language": "template_language",
    "语言": "template_language",
    "template": "template",
    "模板": "template",
}


@dataclass
class Entry:
    """One pattern of a file: where it stands, its code if it has one, and the fields as they were read."""

    source: str
    number: int | None = None
    values: dict[str, Any] = field(default_factory=dict)
    is_deprecated: bool = False


def read_library(text: str, name: str) -> list[Entry]:
    """The patterns of a file called `name` (`.json`, else Markdown). Errors: VALIDATION_ERROR for bad JSON."""
    if name.casefold().endswith(".json"):
        return list(_json_entries(text, name))
    return list(_markdown_entries(normalise_newlines(text.removeprefix("\ufeff")), name))


def _json_entries(text: str, name: str) -> Iterator[Entry]:
    value = loads(text.removeprefix("\ufeff").encode("utf-8"))
    listed = value.get("patterns") if isinstance(value, Mapping) else value
    if not isinstance(listed, list):
        raise ApplicationError("VALIDATION_ERROR", "A list of patterns is needed.")
    for at, item in enumerate(listed):
        entry = Entry(f"{name}[{at}]")
        for key, content in item.items() if isinstance(item, Mapping) else ():
            if key == "id":
                found = _HEADING_RE.fullmatch(f"## {content}")
                entry.number = int(found["code"][2:]) if found and found["code"] else None
            else:
                _set(entry, str(key), content)
        yield entry


def _markdown_entries(text: str, name: str) -> Iterator[Entry]:
    lines = text.split("\n")
    mask, _open = fence_mask(lines)
    starts = [at for at, line in enumerate(lines) if not mask[at] and _HEADING_RE.fullmatch(line)]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        found = _HEADING_RE.fullmatch(lines[start])
        assert found
        entry = Entry(f"{name}:{start + 1}", int(found["code"][2:]) if found["code"] else None)
        entry.values["name"] = found["name"].strip().strip("*").strip()
        _read_section(entry, lines[start + 1 : end], mask[start + 1 : end])
        if entry.number is not None or set(entry.values) - {"name", "description"}:
            yield entry


def _read_section(entry: Entry, lines: list[str], mask: list[bool]) -> None:
    prose: list[str] = []
    block: list[str] = []
    for line, is_fence in zip(lines, mask, strict=True):
        if is_fence:
            block.append(line)
            continue
        found = _FIELD_RE.fullmatch(line)
        if found is None or not _set(entry, found["key"], found["value"].strip()):
            prose.append(line)
    fence = _FENCE_RE.match(block[0]) if block else None
    if fence:
        last = next((at for at, line in enumerate(block[1:], 1) if _FENCE_RE.fullmatch(line)), len(block))
        entry.values["template"] = "\n".join(block[1:last])
        entry.values.setdefault("template_language", fence["language"])
    text = "\n".join(prose).strip("\n -")
    if text and "description" not in entry.values:
        entry.values["description"] = text


def _set(entry: Entry, key: str, value: Any) -> bool:
    """Keep a field that is known by this name; whether it is."""
    name = _NAMES.get(key.strip().replace("_", " ").casefold())
    if name is None:
        return False
    if name == "status":
        entry.is_deprecated = str(value).casefold() == "deprecated"
    elif name == "occurrences":
        entry.values["imported_occurrences"] = _number(value, whole=True)
    elif name == "confidence":
        entry.values["confidence"] = _number(value, whole=False)
    elif name == "keywords" and isinstance(value, str):
        words = (word.strip().strip("`").strip() for word in re.split(r"[,，、;；]", value.strip("[]")))
        entry.values["keywords"] = [word for word in words if word]
    elif name in ("regex", "category", "template_language", "name") and isinstance(value, str):
        entry.values[name] = value.strip().strip("`")
    else:
        entry.values[name] = value
    return True


def _number(value: Any, *, whole: bool) -> Any:
    """A number that was written as text; anything else as it is, for the rule to refuse."""
    if not isinstance(value, str):
        return value
    try:
        number = Decimal(value.strip())
    except InvalidOperation:
        return value
    if not number.is_finite() or abs(number) > 10**9:
        return value
    return int(number) if whole and number == int(number) else number
