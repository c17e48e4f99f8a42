"""Libraries in and out by command: nothing is lost, nothing is doubled, nothing hostile does more than be reported."""

import json
import os
from datetime import date

import pytest
from django.core.management import CommandError
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from common.receipts.models import Receipt
from common.search.models import SearchDocument
from evolution.lessons.markdown import write_lesson
from evolution.lessons.models import Lesson
from evolution.lessons.rules.records import Check, LessonRecord
from evolution.lessons.services.folder import Item, read_folder
from evolution.lessons.services.importing import import_lessons
from evolution.lessons.services.records import record_of
from tests.commands.calls import lines, run, written
from tests.factories import SYSTEM, ApiClient, make_company, make_key
from tests.lessons.people import Staff, make_lesson
from tests.lessons.test_markdown import FILE
from tests.sizes import sized

pytestmark = pytest.mark.django_db
NOW = timezone.now()
ROW = {
    "id": "EXP-018",
    "title": "瘦身",
    "type": "bug-fix",
    "category": "PRACT-EXP",
    "date": "2026-07-01",
    "tags": ["a"],
}


def brought(folder, *options):
    """The lines of an import into acme."""
    return lines("import_lessons", folder, "--company", "acme", *options)


def tree(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def lesson(number=1, company="acme"):
    return Lesson.objects.get(company__slug=company, number=number)


def summary(found, imported, skipped, failed):
    return f"found {found} imported {imported} skipped {skipped} failed {failed}"


# Golden rows


@pytest.mark.parametrize("change", [lambda text: text, lambda text: "\ufeff" + text.replace("\n", "\r\n")])
def test_a_file_keeps_its_day_of_expiry_and_has_no_carriage_return(acme, tmp_path, change):
    report = brought(written(tmp_path, {"EXP-001.md": change(FILE)}))
    stored = lesson()
    assert report[-1] == summary(1, 1, 0, 0)
    assert (stored.expires_on, stored.status, stored.warnings) == (date(2026, 12, 12), "active", [])
    assert "\r" not in json.dumps(list(Lesson.objects.values()), default=str)
    assert write_lesson(record_of(stored)) == FILE


def test_a_poor_row_of_an_index_comes_with_four_warnings_and_the_index_still_works(acme, tmp_path):
    row = {**ROW, "path": "../../etc/passwd"}  # never opened
    index = written(tmp_path, {"index.json": json.dumps({"experiences": [row]})}) / "index.json"
    report = brought(index)
    assert report[-1] == summary(1, 1, 0, 0)
    assert [line for line in report if line.startswith("warning")] == [
        "warning   missing:severity",
        "warning   missing:related_files",
        "warning   missing:expires",
        "warning   missing:key_lesson",
    ]
    assert (lesson(18).severity, lesson(18).takeaway, len(lesson(18).warnings)) == ("medium", "瘦身", 4)
    reader = ApiClient(make_key(acme, scopes=["read"]))
    assert reader.get("lessons/index").json()["experiences"][0]["expires"] == "2026-12-28"
    assert SearchDocument.objects.filter(kind="lesson").count() == 1


def test_the_real_library_comes_in_whole_and_twice_is_once(acme, shared_data):
    report = brought(shared_data / "lessons")
    assert [row.number for row in Lesson.objects.filter(status="active").order_by("number")] == [
        1,
        2,
        3,
        4,
        18,
    ]
    calibration = lesson(4)
    assert (calibration.type, calibration.category, calibration.signal) == (
        "boundary-signal",
        "CALIB-EXP",
        "unexpected-success",
    )
    assert (calibration.warnings, calibration.expires_on) == ([], None)
    assert any(line.startswith("skipped   mao-AGENTS.md  pointer") for line in report)
    assert any(line.startswith("failed    lessons-manifest.json") for line in report)
    count = Lesson.objects.count()
    assert " imported 0 " in brought(shared_data / "lessons")[-1]
    assert Lesson.objects.count() == count


def test_decisions_and_incident_reports_become_drafts_once(acme, shared_data):
    for _ in range(2):
        brought(shared_data / "adr")
        brought(shared_data / "lessons" / "posthog-2025-10-21-outages.md")
    drafts = Lesson.objects.filter(status="draft")
    assert {draft.title for draft in drafts} >= {"Add Status Field", "Record architecture decisions"}
    assert drafts.count() == Lesson.objects.count() == 5
    outage = drafts.get(title__contains="Outages")
    assert (outage.subject, len(outage.sha)) == ("posthog-2025-10-21-outages.md", 64)


def test_the_real_library_goes_out_and_in_again_byte_for_byte(acme, rival, shared_data, tmp_path):
    brought(shared_data / "lessons")
    assert run("export_lessons", tmp_path / "a", "--company", "acme") == "exported 5"
    run("import_lessons", tmp_path / "a", "--company", "rival")
    run("export_lessons", tmp_path / "b", "--company", "rival")
    assert tree(tmp_path / "a") == tree(tmp_path / "b")
    assert set(tree(tmp_path / "a")) == {"index.json", *(f"EXP-{n:03d}.md" for n in (1, 2, 3, 4, 18))}


def test_the_next_capture_goes_on_behind_the_highest_number(acme, tmp_path):
    rows = [{**ROW, "id": "EXP-009"}, {**ROW, "id": "EXP-008"}]
    brought(written(tmp_path, {"index.json": json.dumps(rows)}))
    assert make_lesson(acme, NOW).code == "EXP-010"


# Round trip of everything a lesson can hold


def test_states_links_and_what_is_not_there_survive_the_round_trip(acme, rival, operator, approver, tmp_path):
    staff = Staff(approver)
    for _ in range(5):
        make_lesson(acme, NOW, related=["EXP-077"], references=["#12", "https://host/x"])
    staff.patch("lessons/EXP-002", {"supersedes": "EXP-001", "related": ["EXP-003", "EXP-077"]})
    staff.post("lessons/EXP-003/archive")
    draft = make_lesson(
        acme, NOW, status="draft", supersedes="EXP-004", title="# = 'quote': [x] {y} *z* & <b>"
    )
    staff.patch("lessons/EXP-005", {"related": [draft.code]})
    run("export_lessons", tmp_path / "a", "--company", "acme")
    run("import_lessons", tmp_path / "a", "--company", "rival")
    states = dict(Lesson.objects.of_company(rival).values_list("number", "status"))
    assert states == {1: "superseded", 2: "active", 3: "archived", 4: "active", 5: "active"}
    assert lesson(2, "rival").supersedes == lesson(1, "rival")
    run("export_lessons", tmp_path / "b", "--company", "rival")
    assert tree(tmp_path / "a") == tree(tmp_path / "b")
    assert "- EXP-006" in (tmp_path / "b" / "EXP-005.md").read_text()
    run("export_lessons", tmp_path / "c", "--company", "acme", "--status", "draft")
    assert set(tree(tmp_path / "c")) == {"EXP-006.md", "index.json"}
    run("import_lessons", tmp_path / "c", "--company", "rival")
    assert (lesson(6, "rival").status, lesson(6, "rival").title) == ("draft", draft.title)
    assert (lesson(6, "rival").supersedes, lesson(4, "rival").status) == (lesson(4, "rival"), "active")


text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)


@settings(max_examples=sized(15, 400), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    title=text,
    parts=st.lists(text, min_size=4, max_size=4),
    checks=st.lists(text, max_size=3),
    tags=st.lists(text, max_size=3),
    files=st.lists(text, max_size=3),
    extras=st.dictionaries(text, text, max_size=2),
)
def test_whatever_a_record_says_it_goes_out_and_in_again_unchanged(
    acme, tmp_path, title, parts, checks, tags, files, extras
):
    Lesson.objects.update(supersedes=None)
    Lesson.objects.all().delete()
    what, when, how, takeaway = parts
    record = LessonRecord(
        number=7,
        title=title,
        date=date(2026, 6, 12),
        what=what,
        when=when,
        how=how,
        takeaway=takeaway,
        checklist=[Check(check) for check in checks],
        tags=tags,
        related_files=files,
        extras=extras,
    )
    (tmp_path / "EXP-007.md").write_bytes(write_lesson(record).encode())
    first = import_lessons(items=read_folder(tmp_path), company=acme, actor=SYSTEM, now=NOW)
    if not first.imported:
        return  # nothing in it
    out = write_lesson(record_of(lesson(7)))
    (tmp_path / "EXP-007.md").write_bytes(out.encode())
    again = import_lessons(items=read_folder(tmp_path), company=acme, actor=SYSTEM, now=NOW)
    assert (again.skipped, write_lesson(record_of(lesson(7)))) == (1, out)


# Again, changed, tried out


def test_other_content_is_left_and_reported_unless_update(acme, tmp_path):
    folder = written(tmp_path, {"EXP-001.md": FILE})
    brought(folder)
    assert brought(folder)[-2:] == [
        "skipped   EXP-001.md  EXP-001 handoff schema 与 artifact wrapper 不匹配: it is there already",
        summary(1, 0, 1, 0),
    ]
    written(
        tmp_path,
        {"EXP-001.md": FILE.replace("severity: high", "severity: low").replace("- EXP-002", "- EXP-003")},
    )
    assert "--update" in brought(folder)[0]
    assert lesson().severity == "high"
    assert brought(folder, "--update", "--dry-run")[-1] == summary(1, 1, 0, 0)
    assert lesson().severity == "high"
    assert brought(folder, "--update")[0].endswith(": updated")
    assert (lesson().severity, lesson().references, lesson().version) == ("low", ["EXP-003"], 2)
    assert brought(folder, "--update")[-1] == summary(1, 0, 1, 0)


def test_update_confirms_nothing_and_moves_links(acme, tmp_path):
    draft = make_lesson(acme, NOW, status="draft")
    folder = written(tmp_path, {f"{draft.code}.md": FILE})
    brought(folder, "--update")
    assert (lesson().status, lesson().severity) == ("draft", "high")
    for number in (2, 3):
        written(tmp_path, {f"EXP-00{number}.md": FILE.replace("EXP-001", f"EXP-00{number}")})
    second = (tmp_path / "EXP-002.md").read_text().replace("supersedes: null", "supersedes: EXP-003")
    written(tmp_path, {"EXP-002.md": second})
    brought(folder)
    assert (lesson(2).supersedes, lesson(3).status) == (lesson(3), "superseded")
    written(tmp_path, {"EXP-002.md": second.replace("supersedes: EXP-003", "supersedes: null")})
    assert brought(folder)[-1] == summary(3, 0, 3, 0)
    brought(folder, "--update")
    assert (lesson(2).supersedes, lesson(3).status) == (None, "active")


def test_a_row_of_an_index_completes_a_file_and_takes_nothing_from_a_lesson(acme, tmp_path):
    file = FILE.replace("severity: high\n", "").replace("EXP-001", "EXP-018")
    folder = written(
        tmp_path,
        {"EXP-018-slim.md": file, "index.json": json.dumps([{**ROW, "severity": "low", "title": "x"}])},
    )
    assert brought(folder)[-1] == summary(1, 1, 0, 0)
    assert (lesson(18).severity, lesson(18).title) == ("low", "handoff schema 与 artifact wrapper 不匹配")
    os.unlink(tmp_path / "EXP-018-slim.md")
    brought(folder, "--update")
    assert (lesson(18).title, lesson(18).how, lesson(18).checklist != []) == ("x", "统一适配层。", True)


def test_a_trial_run_reports_the_same_and_stores_nothing(acme, tmp_path):
    folder = written(tmp_path, {"EXP-001.md": FILE, "index.json": json.dumps([ROW])})
    receipts = Receipt.objects.count()
    tried = brought(folder, "--dry-run")
    assert (Lesson.objects.count(), Receipt.objects.count()) == (0, receipts)
    assert SearchDocument.objects.count() == 0
    assert brought(folder) == tried
    assert make_lesson(acme, NOW).code == "EXP-019"


def test_an_import_leaves_one_receipt_with_a_line_a_lesson(acme, tmp_path):
    brought(written(tmp_path, {"EXP-001.md": FILE, "index.json": json.dumps([ROW])}))
    receipt = Receipt.objects.get(trigger="lessons_imported")
    assert (receipt.channel, receipt.totals["applied"]) == ("command", 2)
    assert {line.target for line in receipt.lines.all()} == {"EXP-001", "EXP-018"}


def test_secrets_of_files_are_taken_out_before_they_are_stored(acme, tmp_path):
    token = "ghp_" + "a1B2c3D4e5" * 4
    file = FILE.replace("统一适配层。", f"用 {token}").replace("---\n\n", f"owner: {token}\n---\n\n", 1)
    brought(written(tmp_path, {"EXP-001.md": file}))
    assert token not in json.dumps(list(Lesson.objects.values()), default=str)
    assert lesson().redactions["api_token"] == 2


# Two of one kind, cycles, hostile things


def test_two_files_of_one_id_and_two_rows_are_reported(acme, tmp_path):
    files = {"EXP-001.md": FILE, "old/EXP-001.md": FILE.replace("high", "low")}
    folder = written(
        tmp_path, {**files, "index.json": json.dumps([ROW, {**ROW, "title": "y"}, {"title": "z"}])}
    )
    report = brought(folder)
    assert report[-1] == summary(5, 2, 1, 2)
    assert "skipped   old/EXP-001.md  EXP-001 handoff schema 与 artifact wrapper 不匹配: " in "\n".join(
        report
    )
    assert lesson().severity == "high"


def test_a_cycle_in_files_is_reported_on_the_lesson_and_makes_no_cycle(acme, tmp_path):
    for number, older in ((1, 2), (2, 3), (3, 1)):
        text = FILE.replace("EXP-001", f"EXP-00{number}").replace(
            "supersedes: null", f"supersedes: EXP-00{older}"
        )
        written(tmp_path, {f"EXP-00{number}.md": text})
    brought(tmp_path)
    chain = dict(Lesson.objects.values_list("number", "supersedes__number"))
    assert chain == {1: 2, 2: 3, 3: None}
    assert lesson(3).warnings == ["not_linked:supersedes:EXP-001"]
    assert [lesson(number).status for number in (1, 2, 3)] == ["active", "superseded", "superseded"]


def test_each_hostile_file_is_one_line_and_the_rest_comes_in(acme, tmp_path):
    outside = written(tmp_path / "outside", {"EXP-009.md": FILE})
    folder = written(
        tmp_path / "in",
        {
            "EXP-001.md": FILE,
            "EXP-002.md": FILE.encode("utf-16"),
            "EXP-003.md": FILE.encode("gbk"),
            "EXP-004.md": b"abc\0def",
            "EXP-005.md": FILE.replace("EXP-001", "EXP-005") + "x" * (1024 * 1024),
            "EXP-006.md": "",
            "EXP-007.md": FILE.replace("EXP-001", "EXP-007").replace("title: handoff", 'title: "a\\0b" #'),
            "broken/index.json": "{",
            "deep/index.json": "[" * 100 + "]" * 100,
            "picture.png": b"\x89PNG",
            "notes.txt": "x",
        },
    )
    (folder / "EXP-010.md").symlink_to(outside / "EXP-009.md")
    (folder / "linked").symlink_to(outside)
    os.mkfifo(folder / "EXP-011.md")
    report = brought(folder)
    assert report[-1] == "found 14 imported 1 skipped 2 failed 11"
    assert list(Lesson.objects.values_list("number", flat=True)) == [1]
    failed = {line.split()[1].partition(":")[0] for line in report if line.startswith("failed")}
    assert failed >= {
        "EXP-002.md",
        "EXP-003.md",
        "EXP-004.md",
        "EXP-005.md",
        "EXP-010.md",
        "linked",
        "EXP-011.md",
    }


def test_what_cannot_be_brought_in_at_all_is_one_clear_error(acme, tmp_path):
    for path, message in ((tmp_path / "none", "there is no file"), (tmp_path / "\udcff", "there is no file")):
        with pytest.raises(CommandError, match=message):
            brought(path)
    with pytest.raises(CommandError, match="No company"):
        run("import_lessons", tmp_path, "--company", "nobody")
    with pytest.raises(CommandError, match="No such agent"):
        brought(tmp_path, "--agent", 999)
    archive = written(tmp_path, {"lessons.zip": b"PK\x03\x04"}) / "lessons.zip"
    assert brought(archive)[-1] == summary(1, 0, 0, 1)
    blocked = written(tmp_path, {"file": "x"}) / "file"
    with pytest.raises(CommandError, match="Cannot write"):
        run("export_lessons", blocked / "below", "--company", "acme")


def test_an_export_replaces_a_link_and_never_writes_through_it(acme, tmp_path):
    make_lesson(acme, NOW)
    outside = written(tmp_path, {"outside.md": "mine"}) / "outside.md"
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "EXP-001.md").symlink_to(outside)
    run("export_lessons", tmp_path / "out", "--company", "acme")
    assert outside.read_text() == "mine"
    assert not (tmp_path / "out" / "EXP-001.md").is_symlink()


def test_file_names_cannot_steer_the_terminal(acme, tmp_path):
    report = brought(written(tmp_path, {"EXP-001\x1b[31m.md": FILE.replace("handoff", '"\\e[2J" #')}))
    assert "\x1b" not in "\n".join(report)


def test_other_shapes_of_a_library(acme, tmp_path):
    """Slug in the name, English headings, no id, put away, an index that says archived."""
    folder = written(
        tmp_path,
        {
            "EXP-021-slug.md": FILE.replace("id: EXP-001\n", ""),
            ".archive/EXP-022.md": FILE.replace("EXP-001", "EXP-022"),
            "english.md": "## What\n\nA\n\n## When\n\nB\n\n## How\n\nC\n\n## Lesson\n\n> D\n",
            "description.md": "---\ndescription: Phase 1: 需求澄清\n---\n# ADR\n\n## Decision\n\nB\n",
            "index.json": json.dumps([{**ROW, "status": "archived"}]),
        },
    )
    report = brought(folder)
    assert report[-1] == summary(5, 5, 0, 0)
    assert (lesson(21).status, lesson(22).status, lesson(18).status) == ("active", "archived", "archived")
    assert (lesson(22).archive_reason, lesson(22).archived_at is not None) == ("import", True)
    english = Lesson.objects.get(title="english")
    assert (english.number > 22, english.status, english.takeaway) == (True, "active", "D")
    assert any("line 2" in line for line in report)
    assert brought(folder)[-1] == summary(5, 0, 5, 0)


def test_seeds_come_once(acme):
    assert lines("seed_lessons", "--company", "acme")[-1] == summary(2, 2, 0, 0)
    assert lines("seed_lessons", "--company", "acme")[-1] == summary(2, 0, 2, 0)
    first, second = lesson(1), lesson(2)
    assert (first.severity, first.category, first.date) == ("high", "PRACT-EXP", date(2026, 6, 12))
    assert first.tags == ["schema", "handoff", "artifact-bus", "e2e"]
    assert (second.type, second.category, second.related_files) == (
        "design-correction",
        "RULE-EXP",
        [".agent/workflows/ship.md"],
    )
    assert {len(row.checklist) for row in (first, second)} == {3}
    assert {row.status for row in (first, second)} == {"active"}
    make_lesson(make_company("busy"), NOW)
    assert lines("seed_lessons", "--company", "busy")[-1] == summary(2, 1, 1, 0)


def test_an_import_of_many_is_few_queries_a_lesson(acme, django_assert_max_num_queries):
    items = [
        Item(f"{number}", LessonRecord(number=number, title="t", what="w", date=date(2026, 6, 12)))
        for number in range(1, 31)
    ]
    with django_assert_max_num_queries(30 * 6 + 40):
        report = import_lessons(items=items, company=acme, actor=SYSTEM, now=NOW)
    assert report.imported == 30
