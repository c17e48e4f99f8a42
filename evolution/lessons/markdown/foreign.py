"""Documents of others as drafts: architecture decisions (MADR, Nygard) and reports of incidents.

Only what the document says under a heading goes into a part; the rest stays blank, to be filled in by the
person who confirms the draft. docs/rules.md: foreign documents.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from common.front_matter import split_front_matter
from common.text import cut_at_line, fence_mask, nfkc, normalise_newlines
from evolution.lessons.markdown.fields import as_date, as_list, as_text, extras
from evolution.lessons.markdown.reading import number_in_name
from evolution.lessons.markdown.sections import section_of
from evolution.lessons.markdown.writing import FIELDS, single_line
from evolution.lessons.rules.kinds import (
    MAX_CHECK,
    MAX_PART,
    MAX_TAKEAWAY,
    MAX_TITLE,
    Category,
    LessonType,
    Status,
)
from evolution.lessons.rules.lifetime import expires_on
from evolution.lessons.rules.records import Check, LessonRecord

_MAX_CHECKS = 50

_PARTS = {
    "what": (
        "context",
        "problem",
        "summary",
        "impact",
        "what happened",
        "what went wrong",
        "root cause",
        "cause",
        "overview",
        "背景",
        "问题",
        "概述",
        "摘要",
        "影响",
        "原因",
        "根因",
        "经过",
    ),
    "when": ("timeline", "incident timeline", "trigger", "detection", "时间线", "触发", "场景"),
    "how": (
        "decision",
        "resolution",
        "remediation",
        "recovery",
        "mitigation",
        "fix",
        "what we did",
        "决策",
        "决定",
        "解决",
        "修复",
        "处理",
        "恢复",
    ),
    "takeaway": ("lesson", "what we learned", "learnings", "key takeaway", "教训", "经验", "反思"),
    "checklist": (
        "action item",
        "follow-up",
        "follow up",
        "next step",
        "prevention",
        "what we're doing",
        "改进",
        "行动项",
        "后续",
        "预防",
        "待办",
    ),
}
_DECISION_WORDS = ("decision", "considered options", "consequences", "决策", "决定")
_INCIDENT_RE = re.compile(r"post-?mortem|outage|incident|root cause|downtime|事故|故障|复盘", re.IGNORECASE)
_HEADING_RE = re.compile(r" {0,3}(?P<marks>#{1,6})[ \t]+(?P<text>.*)")
_NUMBER_RE = re.compile(r"(?:ADR[- ]?)?[0-9]{1,5}[.:)]?\s+(?=\S)", re.IGNORECASE)
_DATE_LINE_RE = re.compile(
    r"[*_-]{0,3}\s?(?:date|日期|时间)[*_]{0,2}\s?[:：][*_]{0,2}\s*(?P<day>\S.{0,40})", re.IGNORECASE
)
_DAY_IN_NAME_RE = re.compile(r"(?<![0-9])([12][0-9]{3}-[0-9]{2}-[0-9]{2})(?![0-9])")
_BULLET_RE = re.compile(
    r"[ \t]{0,3}(?:[-*+]|[0-9]{1,3}[.)])[ \t]+(?:\[(?P<box>[ xX])\][ \t]+)?(?P<text>\S.*)"
)


def is_lesson_file(text: str, name: str = "") -> bool:
    """Whether a text is meant as a lesson file: by its name, its id, or at least two of its sections."""
    if number_in_name(name) is not None:
        return True
    matter = split_front_matter(text)
    if re.fullmatch(r"EXP-[0-9]{3,18}", as_text(matter.meta.get("id"))):
        return True
    return len({section_of(line) for line in matter.body.split("\n")} - {None}) >= 2


def read_document(text: str, name: str = "") -> LessonRecord:
    """A draft made of an architecture decision or an incident report; `name` is the file's name.

    `warnings` name each part that is blank or was cut. Errors: as for `read_lesson`.
    """
    matter = split_front_matter(text)
    title, sections = _sections(normalise_newlines(matter.body))
    is_decision = any(heading.startswith(_DECISION_WORDS) for heading, _body in sections)
    record = LessonRecord(status=Status.DRAFT, category=Category.PRACTICE)
    record.warnings += [f"line {warning.line}: {warning.message}" for warning in matter.warnings]
    record.type = LessonType.DESIGN_CORRECTION if is_decision else LessonType.BUG_FIX
    record.title = _title(as_text(matter.meta.get("title")) or title, name, record)
    record.tags = as_list(matter.meta.get("tags"))[:20]
    record.date = _day(matter.meta, matter.body, name)
    record.expires_on = expires_on(record.date, record.category) if record.date else None
    record.extras = {key: value for key, value in extras(matter.meta).items() if key not in FIELDS}
    parts = _parts(sections, fallback=not is_decision)
    for part in ("what", "when", "how"):
        setattr(record, part, _fitting(record, part, parts.get(part, ""), MAX_PART))
    record.takeaway = _fitting(record, "takeaway", parts.get("takeaway", ""), MAX_TAKEAWAY)
    record.checklist = _checks(parts.get("checklist", ""))
    if record.date is None:
        record.warnings.append("missing:date")
    if not is_decision and _INCIDENT_RE.search(f"{record.title}\n{text[:2000]}"):
        record.warnings.append("incident")
    return record


def _sections(body: str) -> tuple[str, list[tuple[str, str]]]:
    """The title (first heading of level 1), and each section of level 2 as (heading folded, text)."""
    lines = body.split("\n")
    mask, _missing = fence_mask(lines)
    title = ""
    found: list[tuple[str, list[str]]] = [("", [])]
    for line, is_fenced in zip(lines, mask, strict=True):
        heading = None if is_fenced else _HEADING_RE.fullmatch(line)
        if heading and len(heading["marks"]) == 1:
            title = title or heading["text"].strip(" \t#")
        elif heading and len(heading["marks"]) == 2:
            found.append((nfkc(heading["text"][:200]).casefold().strip(" \t#"), []))
        else:
            found[-1][1].append(line)
    return title, [(heading, "\n".join(text).strip()) for heading, text in found]


def _parts(sections: list[tuple[str, str]], *, fallback: bool) -> dict[str, str]:
    parts: dict[str, list[str]] = {}
    for heading, text in sections:
        part = _part_of(heading)
        if part and text:
            parts.setdefault(part, []).append(text)
    # A report without headings tells what happened.
    if fallback and "what" not in parts and sections[0][1]:
        parts["what"] = [sections[0][1]]
    return {part: "\n\n".join(texts) for part, texts in parts.items()}


def _part_of(heading: str) -> str | None:
    bare = _NUMBER_RE.sub("", heading)
    for part, words in _PARTS.items():
        if any(bare.startswith(word) or (len(word) > 6 and word in bare) for word in words):
            return part
    return None


def _title(text: str, name: str, record: LessonRecord) -> str:
    title = _NUMBER_RE.sub("", " ".join(text.split()), count=1)
    if not title:
        record.warnings.append("missing:title")
        stem = name.replace("\\", "/").rpartition("/")[2].rsplit(".", 1)[0]
        title = " ".join(stem.split()) or "?"
    return title if len(title) <= MAX_TITLE else f"{title[: MAX_TITLE - 1]}…"


def _day(meta: Mapping[str, Any], body: str, name: str) -> Any:
    if day := as_date(meta.get("date")):
        return day
    for line in body.split("\n")[:40]:
        found = _DATE_LINE_RE.fullmatch(line.strip())
        if found and (day := as_date(found["day"])):
            return day
    in_name = _DAY_IN_NAME_RE.search(name)
    return as_date(in_name[1]) if in_name else None


def _fitting(record: LessonRecord, part: str, text: str, limit: int) -> str:
    if not text:
        record.warnings.append(f"missing:{'key_lesson' if part == 'takeaway' else part}")
        return ""
    if len(text) <= limit:
        return text
    record.warnings.append(f"cut:{part}")
    return cut_at_line(text, limit).strip()


def _checks(text: str) -> list[Check]:
    found = (_BULLET_RE.fullmatch(line) for line in text.split("\n"))
    checks = [
        Check(single_line(item["text"])[:MAX_CHECK], item["box"] in ("x", "X")) for item in found if item
    ]
    return checks[:_MAX_CHECKS]
