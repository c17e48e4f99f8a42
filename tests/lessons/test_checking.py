"""A change is checked against the lessons before it is merged: REST and command."""

import json
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from evolution.lessons.models import ChangeCheck, LessonCheck
from tests.commands.calls import run
from tests.factories import ApiClient, make_agent, make_key
from tests.lessons.library import BUS, handoff, make_lesson

pytestmark = pytest.mark.django_db
ENGLISH = {"accept-language": "en"}


def checked(client, **fields):
    answer = client.post("lessons/check", {"reference": "PR-1", "modified_files": [], **fields}, **ENGLISH)
    assert answer.status_code == 200, answer.content.decode()
    return answer.json()


def command(*arguments):
    """Exit code and what was printed."""
    out = StringIO()
    try:
        call_command("check_lessons", "--company", "acme", *arguments, stdout=out, stderr=StringIO())
    except SystemExit as end:
        return end.code, out.getvalue()
    return 0, out.getvalue()


DONE = [{"lesson": "EXP-001", "item": item, "done": True} for item in range(3)]


# -- golden rows


def test_a_file_of_a_lesson_without_answers_wants_attention(writer, acme):
    handoff(acme)
    answer = checked(writer, modified_files=[BUS])
    (lesson,) = answer["lessons"]
    assert answer["verdict"] == "attention"
    assert (lesson["id"], lesson["severity"], lesson["matched_files"]) == ("EXP-001", "high", [BUS])
    assert [item["item"] for item in lesson["open_items"]] == [0, 1, 2]
    assert answer["missing_citations"] == ["EXP-001"]
    code, printed = command("--files", BUS)
    assert (code, printed.startswith("verdict: attention\nEXP-001 [high] ")) == (1, True)


def test_all_items_answered_and_cited_passes(writer, acme):
    handoff(acme)
    answer = checked(writer, modified_files=[BUS], answers=DONE, cited=["EXP-001"])
    assert (answer["verdict"], answer["lessons"][0]["open_items"]) == ("pass", [])
    code, printed = command("--files", BUS, "--reference", "PR-1", "--cited", "EXP-001", "--json")
    assert (code, json.loads(printed)["verdict"]) == (0, "pass")


def test_no_related_file_passes(writer, acme):
    handoff(acme)
    answer = checked(writer, modified_files=["x.py"], subject="feat: x")
    assert (answer["verdict"], answer["lessons"]) == ("pass", [])
    assert command("--files", "x.py", "--subject", "feat: x")[0] == 0


def test_a_fix_without_a_lesson_wants_attention(writer, acme):
    answer = checked(writer, subject="fix: x")
    assert (answer["verdict"], answer["fix_without_lesson"]) == ("attention", True)
    assert command("--subject", "fix: x")[0] == 1
    make_lesson(acme, references=["PR-1"], status="draft")
    assert checked(writer, subject="fix: x")["fix_without_lesson"] is False


# -- answers, scope, limits


def test_the_same_reference_again_updates_the_answers(writer, acme):
    handoff(acme)
    checked(writer, modified_files=[BUS], answers=DONE, cited="EXP-001")
    undone = [{**DONE[1], "done": False, "note": "password=hunter2hunter2"}]
    answer = checked(writer, modified_files=[BUS], answers=undone, body="see EXP-001")
    assert [item["item"] for item in answer["lessons"][0]["open_items"]] == [1]
    assert (ChangeCheck.objects.count(), LessonCheck.objects.count()) == (1, 3)
    assert "hunter2" not in LessonCheck.objects.get(item=1).note
    other = checked(writer, reference="PR-2", modified_files=[BUS])
    assert len(other["lessons"][0]["open_items"]) == 3
    assert ChangeCheck.objects.get(reference="PR-1").verdict == "attention"


def test_a_recall_with_the_reference_ticks_the_first_line(writer, acme):
    assert "- [ ] 已调用 /experience-recall 检索相关教训" in checked(writer)["markdown"]
    writer.post("lessons/recall", {"task": "lease", "reference": "PR-1"})
    told = checked(writer)["markdown"]
    assert told.startswith("## 经验合规检查\n\n- [x] 已调用 /experience-recall 检索相关教训\n- [x] ")


def test_only_what_is_live_and_concerns_the_caller_is_met(writer, rival_writer, acme):
    agent, other = make_agent(acme), make_agent(acme)
    files = {"related_files": ["src/", "a.py"]}
    make_lesson(acme, severity="low", **files)
    make_lesson(acme, agent=agent, **files)
    make_lesson(acme, status="draft", **files)
    make_lesson(acme, archived=True, **files)
    make_lesson(acme, expires_on=timezone.localdate() - timedelta(days=1), **files)
    answer = checked(writer, modified_files=["./src\\deep\\b.py"])
    assert [lesson["id"] for lesson in answer["lessons"]] == ["EXP-002", "EXP-001"]
    bound = ApiClient(make_key(acme, ["report"], agent_id=other.pk))
    assert [one["id"] for one in checked(bound, modified_files=["a.py"])["lessons"]] == ["EXP-001"]
    assert checked(rival_writer, modified_files=["a.py"])["lessons"] == []


def test_open_items_of_a_low_lesson_want_no_attention(writer, acme):
    make_lesson(acme, severity="low", related_files=["a.py"])
    answer = checked(writer, modified_files=["a.py"], cited=["EXP-001"])
    assert (answer["verdict"], len(answer["lessons"][0]["open_items"])) == ("pass", 3)


@pytest.mark.parametrize(
    ("fields", "status", "pointer"),
    [
        ({"reference": " "}, 400, "/reference"),
        ({"reference": "r" * 201}, 400, "/reference"),
        ({"modified_files": "a.py"}, 400, "/modified_files"),
        ({"modified_files": ["x" * 501]}, 400, "/modified_files/0"),
        ({"subject": "s" * 501}, 400, "/subject"),
        ({"cited": ["1"]}, 400, "/cited/0"),
        ({"answers": [1]}, 400, "/answers/0"),
        ({"answers": [{"lesson": "EXP-001", "item": "x", "done": True}]}, 400, "/answers/0/item"),
        ({"answers": [{"lesson": "EXP-001", "item": 3, "done": True}]}, 400, "/answers/0/item"),
        ({"answers": [{"lesson": "EXP-001", "item": 0, "done": 3}]}, 400, "/answers/0/done"),
        ({"answers": [{"lesson": "EXP-009", "item": 0, "done": True}]}, 404, "/answers/0/lesson"),
    ],
)
def test_a_bad_request_is_one_clear_error_and_keeps_nothing(writer, acme, fields, status, pointer):
    handoff(acme)
    answer = writer.post("lessons/check", {"reference": "PR-1", "modified_files": [], **fields})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (status, pointer)
    assert ChangeCheck.objects.count() == LessonCheck.objects.count() == 0


def test_a_key_that_only_reads_checks_nothing(reader):
    assert reader.post("lessons/check", {"reference": "PR-1"}).status_code == 403


def test_the_command_without_a_reference_keeps_nothing(acme, monkeypatch):
    handoff(acme)
    monkeypatch.setattr("sys.stdin", StringIO(f"{BUS}\nother.py\n"))
    code, printed = command("--files", "-")
    assert (code, "open 0: schema 有版本" in printed) == (1, True)
    assert ChangeCheck.objects.count() == 0
    with pytest.raises(CommandError) as error:
        run("check_lessons", "--company", "nowhere", "--subject", "x")
    assert error.value.returncode == 2
