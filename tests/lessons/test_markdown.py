"""Lessons as files: read leniently, written byte for byte the same."""

import json
import time
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.errors import ApplicationError
from common.text import clean
from evolution.lessons.markdown import (
    is_lesson_file,
    merge_row,
    number_in_name,
    read_document,
    read_index,
    read_lesson,
    template,
    write_index,
    write_lesson,
)
from evolution.lessons.rules.lifetime import expires_on
from evolution.lessons.rules.paths import normalise_paths
from evolution.lessons.rules.records import Check, LessonRecord

FILE = """\
---
id: EXP-001
title: handoff schema 与 artifact wrapper 不匹配
type: bug-fix
severity: high
category: PRACT-EXP
date: 2026-06-12
trigger: commit a6c7f94
tags: [schema, handoff, artifact-bus, e2e]
related_files:
  - .agent/handoffs/scripts/handoff-protocol.js
  - .agent/artifacts/
supersedes: null
superseded_by: null
expires: 2026-12-12
---

## 错误 (What)

消费方各自假设格式。

## 触发 (When)

首次端到端运行。

## 修正 (How)

统一适配层。

## 教训 (Lesson)

> 第一个版本就定义 schema。
> 不要各自假设。

## 防复发检查

- [x] 有 schema
- [ ] 有适配层
- [ ] 有端到端测试

## 相关经验

- EXP-002
"""


def test_a_file_gives_its_record_and_the_record_the_file():
    record = read_lesson(FILE, "EXP-001.md")
    assert (record.number, record.severity, record.date) == (1, "high", date(2026, 6, 12))
    assert record.takeaway == "第一个版本就定义 schema。\n不要各自假设。"
    assert record.checklist[0] == Check("有 schema", True)
    assert (record.related, record.warnings, record.extras) == ([2], [], {})
    assert write_lesson(record) == FILE


def test_an_explicit_expiry_stays():
    record = read_lesson(FILE)
    assert (record.expires_on, record.expires_manual) == (date(2026, 12, 12), True)
    computed = read_lesson(FILE.replace("expires: 2026-12-12\n", ""))
    assert (computed.expires_on, computed.expires_manual) == (date(2026, 12, 9), False)
    assert computed.warnings == ["missing:expires"]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: "\ufeff" + text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: text.replace("severity: high", "severity: high   # 很重要"),
        lambda text: text.replace("(What)", "").replace("## 错误", "## What"),
        lambda text: text.replace("## 教训 (Lesson)", "## Lesson").replace("## 防复发检查", "## Checklist:"),
        lambda text: text.replace("- EXP-002", "- EXP-002：相关的那条"),
        lambda text: text.replace("- [ ] 有适配层", "- 有\n  适配层"),
    ],
)
def test_other_spellings_give_the_same_record(change):
    record = read_lesson(change(FILE))
    assert record == read_lesson(FILE)
    assert "\r" not in write_lesson(record)


@pytest.mark.parametrize("none", ["- （无）", "- (无)", "- none", ""])
def test_no_related_lesson_has_several_words(none):
    assert read_lesson(FILE.replace("- EXP-002", none)).related == []


@pytest.mark.parametrize(
    ("old", "new", "warning", "field", "value"),
    [
        ("severity: high\n", "", "missing:severity", "severity", "medium"),
        ("severity: high", "severity: awful", "unknown:severity:awful", "severity", "medium"),
        ("type: bug-fix", "type: 奇怪", "unknown:type:奇怪", "type", "奇怪"),
        ("category: PRACT-EXP", "category: HOUSE-EXP", "unknown:category:HOUSE-EXP", "category", "HOUSE-EXP"),
        ("type: bug-fix", "type: boundary-signal", None, "type", "boundary-signal"),
        ("category: PRACT-EXP", "category: CALIB-EXP", None, "category", "CALIB-EXP"),
        ("date: 2026-06-12", "date: someday", "missing:date", "date", None),
        ("title: handoff schema", "title: Phase 1: handoff schema", "line 3", "number", 1),
        ("superseded_by: null", "superseded_by: EXP-009", None, "status", "superseded"),
        ("expires: 2026-12-12", "expires: 2026-12-12\nstatus: archived", None, "status", "archived"),
        ("id: EXP-001", "id: EXP-0018", None, "number", 18),
    ],
)
def test_what_is_odd_is_kept_or_replaced_and_told(old, new, warning, field, value):
    record = read_lesson(FILE.replace(old, new))
    assert getattr(record, field) == value
    told = [line for line in record.warnings if warning and line.startswith(warning)]
    assert bool(told) is bool(warning)


def test_unknown_keys_come_back():
    record = read_lesson(FILE.replace("---\n\n", "owner: 甲\nlevels: [1, two]\nmore: {a: b}\n---\n\n", 1))
    assert record.extras == {"owner": "甲", "levels": [1, "two"], "more": {"a": "b"}}
    assert read_lesson(write_lesson(record)).extras == record.extras


def test_text_around_the_quote_is_not_lost():
    record = read_lesson(
        FILE.replace("> 第一个", "前言\n\n> 第一个").replace("不要各自假设。\n", "不要各自假设。\n\n后话\n")
    )
    assert record.takeaway.startswith("第一个")
    assert record.extras == {"lesson_notes": "前言\n\n\n后话"}
    assert write_lesson(read_lesson(write_lesson(record))) == write_lesson(record)


def test_an_empty_file_is_a_record_full_of_warnings():
    record = read_lesson("", "EXP-018-host-prompt-slim.md")
    assert (record.number, record.title) == (18, "EXP-018")
    assert {"missing:what", "missing:key_lesson", "missing:date"} <= set(record.warnings)


@pytest.mark.parametrize(
    ("name", "number"),
    [("EXP-018-host-prompt-slim.md", 18), ("a/b\\exp-0008.MD", 8), ("EXP-7.md", None), ("x.md", None)],
)
def test_the_file_name_tells_the_number(name, number):
    assert number_in_name(name) == number


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0"), max_size=40)
HOSTILE = st.sampled_from(
    ["## 触发 (When)", "\\## What", "---", "> q", "- [ ] x", "```", "a: b", "# x", "null", "1.10", "2026-01-01", "*a",
     "[x]", "\u2028", "\x85", "yes", "'", '"', "a  \n\n## Lesson\nb", "EXP-001"]
)  # fmt: skip
LINES = st.lists(TEXTS | HOSTILE, max_size=5).map(lambda lines: clean("\n".join(lines)))
WORDS = TEXTS.map(lambda text: " ".join(text.split())[:30])
DAYS = st.dates(date(1990, 1, 1), date(2090, 1, 1))


@st.composite
def records(draw):
    day = draw(DAYS)
    category = draw(st.sampled_from(["PRACT-EXP", "RULE-EXP", "HOUSE-EXP"]))
    expiry = draw(st.sampled_from([expires_on(day, category), None, date(2030, 2, 3)]))
    tags = {tag.casefold(): tag for tag in draw(st.lists(WORDS | HOSTILE, max_size=3))}
    return LessonRecord(
        number=draw(st.integers(1, 99999)),
        title=clean(draw(LINES | HOSTILE)) or "标题",
        category=category,
        status=draw(st.sampled_from(["active", "draft", "archived", "superseded"])),
        date=day,
        trigger=draw(WORDS | HOSTILE),
        tags=[clean(tag) for tag in tags.values() if clean(tag)],
        related_files=normalise_paths(draw(st.lists(WORDS | HOSTILE, max_size=3))),
        what=draw(LINES),
        when=draw(LINES),
        how=draw(LINES),
        takeaway=draw(LINES),
        checklist=[
            Check(draw(LINES | HOSTILE) or "项", draw(st.booleans())) for _ in range(draw(st.integers(0, 3)))
        ],
        related=draw(st.lists(st.integers(1, 500), max_size=3, unique=True)),
        references=[text for text in draw(st.lists(WORDS | HOSTILE, max_size=2)) if clean(text)],
        supersedes=draw(st.none() | st.integers(1, 99)),
        superseded_by=draw(st.none() | st.integers(1, 99)),
        expires_on=expiry,
        signal=draw(WORDS),
        extras={
            f"x{draw(WORDS)}": draw(
                st.recursive(LINES | st.integers(-9, 9), lambda v: st.lists(v, max_size=2))
            )
        },
    )


@given(records())
def test_export_import_export_is_byte_identical(record):
    once = write_lesson(record)
    again = read_lesson(once)
    assert write_lesson(again) == once
    for name in (
        "number",
        "what",
        "when",
        "how",
        "takeaway",
        "related",
        "status",
        "expires_on",
        "related_files",
    ):
        assert getattr(again, name) == getattr(record, name)


def test_the_template_is_an_empty_lesson():
    text = template()
    assert text.count("- [ ] \n") == 3
    assert read_lesson(text).checklist == []


# --- the index -------------------------------------------------------------------------------------------------------


def index(*rows):
    return json.dumps({"version": "1", "total": len(rows), "experiences": list(rows)}).encode()


ROW = {
    "id": "EXP-018",
    "title": "瘦身",
    "type": "design-correction",
    "category": "RULE-EXP",
    "date": "2026-08-18",
}


def test_a_poor_row_is_read_with_a_warning_for_each_gap():
    (record,) = read_index(index(ROW)).records
    assert record.warnings == [
        "missing:severity", "missing:related_files", "missing:expires", "missing:key_lesson",
    ]  # fmt: skip
    assert (record.severity, record.related_files, record.expires_on, record.takeaway) == (
        "medium",
        [],
        None,
        "瘦身",
    )


def test_rows_that_are_no_lessons_and_repeated_ones_are_listed():
    reading = read_index(index(ROW, {"id": "x"}, "y", ROW | {"title": "again"}))
    assert [record.title for record in reading.records] == ["瘦身"]
    assert [place for place, _reason in reading.failed] == [2, 3, 4]


@pytest.mark.parametrize("data", [b"{}", b"nothing", b"[" * 100_000, b'{"experiences": 1}'])
def test_what_is_no_index_is_one_clean_error(data):
    with pytest.raises(ApplicationError) as caught:
        read_index(data)
    assert caught.value.code == "VALIDATION_ERROR"


def test_an_index_is_written_in_numeric_order_and_reads_back_the_same():
    records = [
        LessonRecord(number=number, title=str(number), date=date(2026, 1, 1)) for number in (1000, 20, 3)
    ]
    text = write_index(records, date(2026, 8, 1))
    data = json.loads(text)
    assert [row["id"] for row in data["experiences"]] == ["EXP-003", "EXP-020", "EXP-1000"]
    assert (data["total"], data["experiences"][0]["path"]) == (3, ".agent/experiences/EXP-003.md")
    assert list(data["experiences"][0]) == [
        "id", "title", "type", "severity", "category", "date", "tags", "related_files", "key_lesson", "path", "expires",
    ]  # fmt: skip
    assert write_index(read_index(text.encode()).records, date(2026, 8, 1)) == text


def test_the_file_wins_over_the_row_and_the_row_fills_its_gaps():
    of_file = read_lesson(FILE.replace("severity: high\n", "").replace("expires: 2026-12-12\n", ""))
    row = {
        "id": "EXP-001",
        "title": "other",
        "severity": "low",
        "expires": "2027-01-01",
        "key_lesson": "其他",
    }
    merged = merge_row(of_file, read_index(index(row)).records[0])
    assert (merged.severity, merged.expires_on, merged.expires_manual) == ("low", date(2027, 1, 1), True)
    assert (merged.title, merged.takeaway[:3]) == ("handoff schema 与 artifact wrapper 不匹配", "第一个")
    assert merged.warnings == []


# --- documents of others ---------------------------------------------------------------------------------------------

MADR = """\
---
status: accepted
date: 2026-02-03
---
# Use one schema

## Context and Problem Statement

Everyone guessed.

```markdown
## Decision Outcome
not this
```

## Decision Outcome

An adapter.
"""
NYGARD = "# 8. 允许返回结果\n\nDate: 2019-07-01\n\n## Context\n\n背景\n\n## Decision\n\n允许\n"
REPORT = """\
# 数据库故障复盘

## 背景

库满了。

## 时间线

- 10:00 报警

## 解决

扩容。

## 教训

> 要有容量告警

## 改进

- [ ] 加告警
- [x] 写手册
"""


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        (MADR, "0001.md", ("Use one schema", "design-correction", date(2026, 2, 3), "An adapter.", "")),
        (NYGARD, "0008.md", ("允许返回结果", "design-correction", date(2019, 7, 1), "允许", "")),
        (
            REPORT,
            "2026-03-04-复盘.md",
            ("数据库故障复盘", "bug-fix", date(2026, 3, 4), "扩容。", "> 要有容量告警"),
        ),
        (
            "It was down.\n",
            "2024-02-28-x is down.md",
            ("2024-02-28-x is down", "bug-fix", date(2024, 2, 28), "", ""),
        ),
    ],
)
def test_a_document_becomes_a_draft_of_what_it_says(text, name, expected):
    record = read_document(text, name)
    assert (record.title, record.type, record.date, record.how, record.takeaway) == expected
    assert (record.status, record.category) == ("draft", "PRACT-EXP")
    assert record.what != ""


def test_a_report_brings_its_steps_as_a_checklist():
    record = read_document(REPORT)
    assert record.checklist == [Check("加告警"), Check("写手册", True)]
    assert "incident" in record.warnings


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [(FILE, "x.md", True), ("", "EXP-004.md", True), (MADR, "x.md", False), (REPORT, "x.md", False),
     ("## What\n\n## Lesson\n", "x.md", True)],
)  # fmt: skip
def test_lesson_files_are_told_from_other_documents(text, name, expected):
    assert is_lesson_file(text, name) is expected


@pytest.mark.parametrize(
    "line",
    [
        "# " + " " * 100_000 + "x",
        "## " + "(" * 100_000,
        "- [ ] " + "[ ] " * 50_000,
        "> " * 100_000,
        "\\" * 200_000 + "##",
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_a_hostile_line_costs_no_more_than_its_length(line):
    started = time.process_time()
    for text in (line, f"## What\n\n{line}\n\n## Lesson\n\n{line}", f"## 防复发检查\n\n{line}"):
        write_lesson(read_lesson(text))
        read_document(text)
    assert time.process_time() - started < 2.0
