"""Knowledge comes in from files as people write them, and goes out as the same bytes each time."""

import io
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command

from common.receipts.models import Receipt
from evolution.knowledge.markdown import is_knowledge_file, read_knowledge, write_knowledge
from evolution.knowledge.models import ConfidenceEvent, Knowledge
from evolution.knowledge.rules.records import KnowledgeRecord
from evolution.knowledge.rules.values import MAX_IMPORTED
from evolution.knowledge.services.deciding import deprecate
from tests.knowledge.items import decision, make_knowledge, of_ledger

FRONT = """---
id: k-019
title: Fix: null, in `a:b`
category: pattern
tags: [dart: 3, "a, b", 状态]
created: 2026-02-09
confidence: 0.85
references: [seed-pack-v1]
---

## Summary
用 freezed 生成不可变数据类: copyWith, ==.

## Details
### 核心特性
- 一

## Notes
more

## Code Example
```dart
  indented();

## Summary of the code
```

## Related Knowledge
- k-026: Codex CLI
- K-002: Another
"""
HEADER = """# Codex CLI Best Practices (Windows)

## ID: k-026
## Category: Tooling
## Confidence: 0.95

### 1. The argument
在 Windows PowerShell 环境下
直接传递 Prompt 是危险的。

### 2. Solution: File Injection
`codex exec`
"""


def test_front_matter_with_colons_and_commas_survives():
    record = read_knowledge(FRONT)
    assert (record.number, record.title, record.category) == (19, "Fix: null, in `a:b`", "pattern")
    assert record.tags == ["dart: 3", "a, b", "状态"]
    assert record.summary == "用 freezed 生成不可变数据类: copyWith, ==."
    assert record.details == "### 核心特性\n- 一\n\n## Notes\nmore"
    assert (record.code_language, record.code_example) == ("dart", "  indented();\n\n## Summary of the code")
    assert (record.confidence, record.created.isoformat()) == (Decimal("0.85"), "2026-02-09")
    assert (record.references, sorted(record.related), record.warnings) == (["seed-pack-v1"], [2, 26], [])


def test_the_other_header_style_has_its_first_paragraph_as_summary():
    record = read_knowledge(HEADER)
    assert (record.number, record.category, record.confidence) == (26, "tooling", Decimal("0.95"))
    assert record.title == "Codex CLI Best Practices (Windows)"
    assert record.summary == "在 Windows PowerShell 环境下 直接传递 Prompt 是危险的。"
    assert record.details.startswith("### 1. The argument")
    assert "Solution: File Injection" in record.details


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (FRONT, True),
        (HEADER, True),
        ("---\ncategory: pattern\nconfidence: 0.7\ntitle: t\n---\n", True),
        ("# Readme\n\ntext", False),
        ("---\nid: EXP-001\ntitle: t\n---\n", False),
        ("", False),
    ],
)
def test_what_is_knowledge(text, expected):
    assert is_knowledge_file(text) is expected


@pytest.mark.parametrize(
    ("block", "language", "code"),
    [
        ("```\ncode\n```", "", "code"),
        ("~~~py\ncode\n~~~", "py", "code"),
        ("````md\n```py\nx\n```\n````", "md", "```py\nx\n```"),
        ("```c++\na\n```\n\n```py\nb\n```", "c++", "```c++\na\n```\n\n```py\nb\n```"),
        ("plain", "", "plain"),
    ],
)
def test_code_keeps_its_language(block, language, code):
    record = read_knowledge(f"---\nid: k-001\n---\n\n## Code Example\n{block}\n")
    assert (record.code_language, record.code_example) == (language, code)


@pytest.mark.parametrize("confidence", ["", "high", "1.5", "NaN", "-1"])
def test_an_odd_confidence_is_told(confidence):
    record = read_knowledge(f"---\nid: k-001\nconfidence: {confidence}\n---\n")
    assert (record.confidence, len(record.warnings)) == (Decimal("0.7"), 1)


@pytest.mark.parametrize(
    "fields",
    [
        {"title": "a: b, [c] #d"},
        {"tags": ["a: b", "c, d", "- e", "null", "1.0"], "references": ["x, y", "[z]"]},
        {"summary": "## Summary\n\\## Details", "details": "## Code Example\n```\nopen"},
        {"code_example": "  x\n```\ny\n```\n## Details", "code_language": "py"},
        {"details": "---\nid: k-999\n---"},
        {"is_deprecated": True, "confidence": Decimal("0.123")},
    ],
)
def test_what_was_written_reads_back_and_is_written_the_same(fields):
    record = KnowledgeRecord(**{"number": 1, "title": "t", "category": "pattern", "summary": "s", **fields})
    text = write_knowledge(record)
    again = read_knowledge(text)
    assert again == record
    assert write_knowledge(again) == text


def run(command, path, *arguments):
    out = io.StringIO()
    call_command(command, str(path), "--company", "acme", *arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue().splitlines()


def files_of(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.django_db
def test_a_folder_is_vouched_for_and_every_file_is_reported(acme, tmp_path):
    texts = {
        "a/k-019.md": FRONT,
        "b/k-019.md": FRONT,
        "b/k-026.md": HEADER,
        "c/k-026.md": HEADER.replace("0.95", "0.9"),
        "low.md": HEADER.replace("k-026", "k-003").replace("0.95", "0.4").replace("Codex", "Low"),
        "odd.md": HEADER.replace("k-026", "k-004").replace("Tooling", "Cooking"),
        "README.md": "# Readme",
        "binary.md": "\0",
        "twin.md": HEADER.replace("k-026", "k-005"),
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    before = Receipt.objects.count()
    lines = run("import_knowledge", tmp_path)
    report = "\n".join(lines)
    assert lines[-1] == "found 9 imported 3 skipped 4 failed 2"
    assert "k-019 was in a/k-019.md already, with the same content" in report
    assert "k-026 was in b/k-026.md already, with other content" in report
    assert "there are: architecture" in report
    assert "related and not there: k-002" in report
    assert "k-026 has this title and category already" in report
    items = {item.code: item for item in Knowledge.objects.all()}
    assert {code: item.status for code, item in items.items()} == {
        "k-019": "active",
        "k-026": "active",
        "k-003": "deprecated",
    }
    assert list(items["k-019"].related.all()) == [items["k-026"]]
    assert sorted(item.order for item in items.values()) == [0, 1, 2]
    assert {of_ledger(item) == item.confidence for item in items.values()} == {True}
    assert items["k-026"].confirmed_by == "command:import_knowledge"
    assert Receipt.objects.count() == before + 1
    assert make_knowledge(acme, "next").code == "k-027"


@pytest.mark.django_db
def test_the_same_folder_again_stores_nothing(acme, tmp_path):
    (tmp_path / "k-026.md").write_text(HEADER, encoding="utf-8")
    run("import_knowledge", tmp_path)
    before = (Receipt.objects.count(), ConfidenceEvent.objects.count())
    assert run("import_knowledge", tmp_path)[-1] == "found 1 imported 0 skipped 1 failed 0"
    assert (Receipt.objects.count(), ConfidenceEvent.objects.count()) == before


@pytest.mark.django_db
def test_a_trial_run_tells_the_same_and_stores_nothing(acme, tmp_path):
    (tmp_path / "k-026.md").write_text(HEADER, encoding="utf-8")
    trial = run("import_knowledge", tmp_path, "--dry-run")
    assert not Knowledge.objects.exists()
    assert run("import_knowledge", tmp_path) == trial
    assert make_knowledge(acme, "next").code == "k-027"


@pytest.mark.django_db
def test_an_export_is_the_same_bytes_each_time_also_through_an_import(acme, rival, tmp_path):
    make_knowledge(acme, "A: b, c", tags=["x: y"], confidence="0.9", active=True)
    second = make_knowledge(
        acme, "二", code_example="  a\n```\n", code_language="py", related=["k-001"], active=True
    )
    deprecate(knowledge_id=second.pk, decision=decision())
    make_knowledge(acme, "draft")
    one, two, three = (tmp_path / name for name in "123")
    assert run("export_knowledge", one) == ["exported 2"]
    run("export_knowledge", two)
    assert files_of(one) == files_of(two)
    assert sorted(files_of(one)) == ["k-001.md", "k-002.md"]
    assert b"- k-001: A: b, c" in files_of(one)["k-002.md"]
    call_command("import_knowledge", str(one), "--company", "rival", stdout=io.StringIO())
    call_command("export_knowledge", str(three), "--company", "rival", stdout=io.StringIO())
    assert files_of(three) == files_of(one)


@pytest.mark.django_db
def test_nothing_is_left_of_a_secret_in_a_file(acme, tmp_path):
    secret = "AKIAIOSFODNN7EXAMPLE"
    (tmp_path / "k-026.md").write_text(HEADER.replace("codex exec", secret), encoding="utf-8")
    run("import_knowledge", tmp_path)
    assert secret not in str(list(Knowledge.objects.values()))


@pytest.mark.django_db
def test_what_is_not_there_is_an_error(acme, tmp_path):
    with pytest.raises(CommandError):
        run("import_knowledge", tmp_path / "nowhere")
    with pytest.raises(CommandError):
        call_command("export_knowledge", str(tmp_path), "--company", "nobody")
    (tmp_path / "file").write_text("x")
    with pytest.raises(CommandError):
        run("export_knowledge", tmp_path / "file")


@pytest.mark.django_db
def test_a_huge_number_does_not_use_up_all_numbers(acme, tmp_path):
    for name, code in (("a.md", f"k-{MAX_IMPORTED}"), ("b.md", f"k-{MAX_IMPORTED + 1}")):
        text = HEADER.replace("k-026", code).replace("Codex", name)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert run("import_knowledge", tmp_path)[-1] == "found 2 imported 1 skipped 0 failed 1"
    # The counter goes on behind the highest one.
    assert make_knowledge(acme).number == MAX_IMPORTED + 1


def test_a_confidence_of_many_places_is_rounded():
    record = read_knowledge("---\nid: k-001\nconfidence: 1e-900000\n---\n")
    assert (str(record.confidence), record.warnings) == ("0.000", [])
