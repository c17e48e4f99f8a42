"""What nobody in good faith sends: the ends of the calendar, endless questions, files made to break an import."""

import pytest
from django.core.management import call_command
from django.utils import timezone

from evolution.lessons.models import Lesson, Repository
from evolution.lessons.rules.kinds import MAX_IMPORTED
from evolution.lessons.services import checking
from tests.factories import ApiClient, make_key
from tests.lessons.people import Staff, make_lesson, problem

pytestmark = pytest.mark.django_db
NOW = timezone.now()
FILE = "---\nid: {code}\ntitle: t\ndate: 2026-06-12\n{line}\n---\n## What\nx\n"


@pytest.fixture
def runtime(acme):
    return ApiClient(make_key(acme, scopes=["read", "report"]))


@pytest.fixture
def imported(tmp_path, acme, capsys):
    """Imports files {name: text} into acme; the lines of the report."""

    def run(**files: str) -> list[str]:
        for name, text in files.items():
            (tmp_path / f"{name.replace('_', '-')}.md").write_text(text, encoding="utf-8")
        call_command("import_lessons", str(tmp_path), company="acme")
        return capsys.readouterr().out.splitlines()

    return run


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
def test_a_commit_from_an_end_of_the_calendar_stops_neither_capture_nor_figures(runtime, acme, day):
    Repository.objects.create(company=acme, name="r")
    moment = f"{day}T12:00:00Z"
    commit = {"sha": "a" * 40, "subject": "fix(x): y", "author_date": moment, "committer_date": moment}
    assert (
        len(runtime.post("lessons/capture", {"repository": "r", "commits": [commit]}).json()["created"]) == 1
    )
    figures = runtime.get("lessons/metrics")
    assert (figures.status_code, figures.json()["captures"]) == (200, 1)


@pytest.mark.parametrize(("name", "value"), [("q", "a" * 60_000), ("file", "a/" * 35_000)], ids=["q", "file"])
def test_an_endless_filter_is_refused_with_its_limit(runtime, name, value):
    answer = runtime.get(f"lessons?{name}={value}")
    assert problem(answer) == (400, "VALIDATION_ERROR", [f"/{name}"])
    assert "500" in answer.json()["detail"]


def test_an_endless_search_of_the_list_finds_nothing(signed_in, operator, acme):
    make_lesson(acme, NOW)
    page = signed_in(operator).get("/admin/lessons/lesson/", {"q": "a" * 60_000})
    assert page.status_code == 200
    assert not page.context["cl"].queryset


def test_a_lesson_is_not_related_to_itself(operator, acme):
    lesson = make_lesson(acme, NOW)
    answer = Staff(operator).patch(f"lessons/{lesson.code}", {"related": [lesson.code]})
    assert problem(answer) == (400, "VALIDATION_ERROR", ["/related"])
    assert not lesson.related.exists()


@pytest.mark.parametrize("value", [False, [], {}, 0], ids=["false", "list", "object", "zero"])
def test_what_is_no_word_is_not_taken_for_a_missing_one(runtime, value):
    answer = runtime.post("lessons/recall", {"task": "schema", "purpose": value})
    assert problem(answer) == (400, "VALIDATION_ERROR", ["/purpose"])


@pytest.mark.parametrize(
    "line", ['severity: "a\\0b"', 'status: "x\\0"', 'x: "\\0"', 'tags: ["\\0"]', 'trigger: "\\0x"']
)
def test_a_character_that_no_database_stores_stops_one_file_only(imported, line):
    told = imported(
        EXP_001=FILE.format(code="EXP-001", line=line), EXP_002=FILE.format(code="EXP-002", line="x: 1")
    )
    assert told[-1] == "found 2 imported 1 skipped 0 failed 1"
    assert any(line.startswith("failed") and "U+0000" in line for line in told)
    assert [lesson.code for lesson in Lesson.objects.all()] == ["EXP-002"]


def test_a_huge_number_does_not_use_up_all_numbers(imported, runtime):
    highest, above = f"EXP-{MAX_IMPORTED}", f"EXP-{MAX_IMPORTED + 1}"
    told = imported(a=FILE.format(code=highest, line=""), b=FILE.format(code=above, line=""))
    assert told[-1] == "found 2 imported 1 skipped 0 failed 1"
    # The counter goes on behind the highest one, and what it gives can be named.
    draft = runtime.post("lessons", {"title": "x"}).json()
    assert draft["code"] == above
    assert runtime.get(f"lessons/{above}").json()["code"] == above


@pytest.mark.parametrize("many", [0, 20_000], ids=["by all lists", "key by key"])
def test_a_change_of_deep_paths_meets_the_same_lessons(runtime, acme, monkeypatch, many):
    monkeypatch.setattr(checking, "_MANY", many)
    make_lesson(acme, NOW, related_files=["0001/a/", "x.py"])
    make_lesson(acme, NOW, related_files=["0002/a/b.py"])
    make_lesson(acme, NOW, related_files=["0003"])
    files = [f"{number:04d}/{'a/' * 20}b.py" for number in range(4)]
    body = {"reference": "r", "modified_files": [*files, "0002/a/b.py"]}
    met = runtime.post("lessons/check", body).json()["lessons"]
    assert [(lesson["id"], lesson["matched_files"]) for lesson in met] == [
        ("EXP-001", [files[1]]),
        ("EXP-002", ["0002/a/b.py"]),
    ]


def test_a_path_is_one_line(runtime):
    assert runtime.post("lessons", {"title": "x", "related_files": ["a\nb\u2028.py"]}).json()[
        "related_files"
    ] == ["a b .py"]


def test_a_lesson_without_takeaway_is_recalled_by_its_title(imported, runtime):
    imported(EXP_001=FILE.format(code="EXP-001", line="tags: [schema]"))
    (match,) = runtime.post("lessons/recall", {"tags": ["schema"]}).json()["matched_experiences"]
    assert (match["id"], match["key_lesson"]) == ("EXP-001", "t")
