"""What old lessons say of a change: recalled when it is drafted, answered by people, told in the receipt."""

import pytest

from common.receipts.models import Receipt
from evolution.lessons.models import Lesson, LessonCitation, RecallLog
from evolution.proposals.services import citing
from evolution.proposals.services import history as history_service
from tests.factories import make_agent
from tests.lessons.library import make_lesson
from tests.proposals.queue_pages import QUEUE, RULE, decide, numbered, opened, text_of
from tests.proposals.samples import NOTE, note

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent(acme):
    return make_agent(acme, name="运维", documents=[("memory/notes.md", "# Notes\n\n- one\n")])


@pytest.fixture
def backup(acme):
    return make_lesson(
        acme,
        title="先备份再删除",
        takeaway="删除前必须先备份",
        related_files=["memory/notes.md"],
        severity="high",
        tags=["备份"],
    )


def beside(answer, code="EXP-001"):
    return next(lesson for lesson in answer["lessons"] if lesson["lesson"] == code)


def test_a_draft_recalls_by_its_targets_and_words(runtime, agent, backup):
    drafted = runtime.draft(agent, note("先备份再删除"))
    found = beside(drafted)
    assert (found["band"], found["answer"]) == ("strong", "")
    log = RecallLog.objects.get(purpose="agent_update")
    assert (log.reference, log.files, log.agent) == (drafted["code"], ["memory/notes.md"], agent)


def test_lessons_of_other_companies_are_not_recalled(runtime, agent, rival):
    make_lesson(rival, title="先备份再删除", takeaway="先备份", related_files=["memory/notes.md"])
    assert runtime.draft(agent, note("先备份再删除"))["lessons"] == []


def test_a_draft_without_lessons_is_as_before(runtime, agent):
    assert runtime.draft(agent, note("先备份"))["lessons"] == []


def test_a_cited_lesson_is_held_until_the_proposal_is_decided(runtime, reviewer, agent, backup):
    code = runtime.code(agent, NOTE, cited_lessons=["EXP-001"])
    citation = LessonCitation.objects.get()
    assert (citation.reference, citation.is_open) == (code, True)
    assert reviewer.post(f"proposals/{code}/reject", {"reason": "no"}).status_code == 200
    assert not LessonCitation.objects.get().is_open


def test_control_without_the_hold_nothing_is_held(runtime, agent, backup, monkeypatch):
    monkeypatch.setattr(citing, "HOLDING", frozenset())
    runtime.code(agent, NOTE, cited_lessons=["EXP-001"])
    assert not LessonCitation.objects.filter(is_open=True).exists()


@pytest.mark.parametrize("cited", [["EXP-404"], ["EXP-001", "nonsense"], ["EXP-001", ""]])
def test_only_lessons_of_the_company_can_be_cited(runtime, rival, agent, backup, cited):
    make_lesson(rival)
    answer = runtime.post("proposals", {"agent": agent.pk, "items": [NOTE], "cited_lessons": cited})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == f"/cited_lessons/{len(cited) - 1}"


def test_a_change_that_says_the_opposite_of_a_cited_lesson_is_in_conflict(runtime, agent, backup):
    drafted = runtime.draft(agent, note("删除前不要先备份"), cited_lessons=["EXP-001"])
    conflicts = drafted["items"][0]["conflicts"]
    assert [(entry["kind"], entry["where"]) for entry in conflicts] == [("contradiction", "EXP-001")]


def test_lessons_are_answered_over_the_api(runtime, reviewer, acme, agent, backup):
    make_lesson(acme, title="another")
    code = runtime.code(agent, note("先备份再删除"))
    dismissed = [{"lesson": "EXP-001", "reason": "这里没有数据"}]
    answer = reviewer.request(
        "PATCH",
        f"proposals/{code}",
        {"cited_lessons": ["exp-002", "EXP-002"], "dismissed_lessons": dismissed},
    )
    assert answer.status_code == 400, "codes are written EXP-002"
    answer = reviewer.request(
        "PATCH", f"proposals/{code}", {"cited_lessons": ["EXP-002"], "dismissed_lessons": dismissed}
    )
    assert answer.status_code == 200, answer.content.decode()
    assert (beside(answer.json())["answer"], beside(answer.json(), "EXP-002")["answer"]) == (
        "dismissed",
        "cited",
    )
    assert answer.json()["dismissed_lessons"] == [{**dismissed[0], "by": "reviewer"}]
    assert LessonCitation.objects.get().lesson.code == "EXP-002"
    again = reviewer.request("PATCH", f"proposals/{code}", {"cited_lessons": []})
    assert again.json()["cited_lessons"] == []
    assert not LessonCitation.objects.exists()


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"dismissed_lessons": [{"lesson": "EXP-001", "reason": " "}]}, "/dismissed_lessons/0/reason"),
        ({"dismissed_lessons": [{"lesson": "EXP-009", "reason": "x"}]}, "/dismissed_lessons/0/lesson"),
        ({"dismissed_lessons": [{"lesson": "EXP-001", "reason": "x"}] * 2}, "/dismissed_lessons"),
        (
            {"cited_lessons": ["EXP-001"], "dismissed_lessons": [{"lesson": "EXP-001", "reason": "x"}]},
            "/dismissed_lessons",
        ),
    ],
)
def test_a_faulty_answer_changes_nothing(runtime, reviewer, agent, backup, body, pointer):
    code = runtime.code(agent, NOTE)
    answer = reviewer.request("PATCH", f"proposals/{code}", body)
    assert answer.status_code == 400
    assert pointer in [fault["pointer"] for fault in answer.json()["errors"]], answer.json()
    assert numbered(code).version == 1


def test_a_runtime_cannot_answer_for_people(runtime, agent, backup):
    code = runtime.code(agent, NOTE)
    assert runtime.request("PATCH", f"proposals/{code}", {"cited_lessons": []}).status_code == 403


def test_an_answer_keeps_an_approval(runtime, reviewer, approver_only, agent, backup):
    code = runtime.code(agent, note("先备份再删除"))
    assert approver_only.post(f"proposals/{code}/approve", {}).json()["status"] == "approved"
    reviewer.request("PATCH", f"proposals/{code}", {"cited_lessons": ["EXP-001"]})
    assert reviewer.post(f"proposals/{code}/apply", {}).json()["status"] == "applied"


def applied_receipt():
    return Receipt.objects.get(trigger="proposal_applied").detail["lessons"]


def test_the_receipt_names_strong_lessons_that_nobody_answered(runtime, reviewer, agent, backup):
    code = runtime.code(agent, note("先备份再删除"))
    reviewer.post(f"proposals/{code}/approve", {})
    assert applied_receipt() == {
        "cited": [],
        "dismissed": [],
        "strong_and_unanswered": ["EXP-001"],
        "created": "",
        "not_created_because": "no_trigger",
    }


def test_a_change_of_the_principles_starts_one_lesson(runtime, reviewer, acme, agent, backup):
    code = runtime.code(agent, RULE | {"content": "报告必须附图"}, cited_lessons=["EXP-001"])
    done = reviewer.post(f"proposals/{code}/approve", {"reason": "right", "confirmation": "运维"})
    assert done.json()["status"] == "applied", done.content.decode()
    lesson = Lesson.objects.get(source="rule_file")
    assert (lesson.status, lesson.category, lesson.trigger) == ("draft", "RULE-EXP", code)
    assert (lesson.related_files, lesson.what, lesson.agent) == (["principles.md"], "", agent)
    assert list(lesson.related.all()) == [backup]
    assert applied_receipt()["created"] == lesson.code
    assert applied_receipt()["cited"] == ["EXP-001"]


def test_a_lesson_that_cannot_be_started_stops_no_approved_change(
    runtime, reviewer, agent, backup, monkeypatch
):
    monkeypatch.setattr(history_service, "_rule_draft", refuse)
    code = runtime.code(agent, RULE | {"content": "报告必须附图"})
    done = reviewer.post(f"proposals/{code}/approve", {"reason": "right", "confirmation": "运维"})
    assert done.json()["status"] == "applied"
    assert applied_receipt()["not_created_because"] == "VALIDATION_ERROR"


def refuse(*_arguments):
    raise history_service.invalid("/title", "no")


def test_the_queue_names_an_unanswered_strong_lesson_and_takes_the_answer(
    signed_in, approver, runtime, agent, backup
):
    client = signed_in(approver)
    proposal = numbered(runtime.code(agent, note("先备份再删除")))
    page = text_of(opened(client, proposal))
    assert "strong match, not answered: EXP-001" in page
    assert "删除前必须先备份" in page
    sent = {"lesson": "EXP-001", "answer": "dismiss", "reason": "无关", "version": proposal.version}
    assert client.post(f"{QUEUE}{proposal.pk}/lessons/", sent).status_code == 302
    page = text_of(opened(client, proposal))
    assert "not answered" not in page
    assert "无关" in page
    decide(client, numbered(proposal.code), "approve")
    assert applied_receipt()["dismissed"] == ["EXP-001"]


@pytest.mark.parametrize(
    "sent", [{"answer": "dismiss"}, {"answer": "perhaps"}, {"lesson": "EXP-9", "answer": "cite"}, {}]
)
def test_a_faulty_answer_in_the_queue_changes_nothing(signed_in, approver, runtime, agent, backup, sent):
    proposal = numbered(runtime.code(agent, NOTE))
    client = signed_in(approver)
    client.post(f"{QUEUE}{proposal.pk}/lessons/", {"lesson": "EXP-001", "version": 1, **sent})
    again = numbered(proposal.code)
    assert (again.cited_lessons, again.dismissed_lessons) == ([], [])


def test_who_may_not_edit_may_not_answer(signed_in, viewer, runtime, agent, backup):
    proposal = numbered(runtime.code(agent, NOTE))
    sent = {"lesson": "EXP-001", "answer": "cite"}
    assert signed_in(viewer).post(f"{QUEUE}{proposal.pk}/lessons/", sent).status_code == 403


def test_what_was_recalled_may_be_gone(runtime, reviewer, agent, backup):
    code = runtime.code(agent, note("先备份再删除"))
    RecallLog.objects.all().delete()
    assert reviewer.get(f"proposals/{code}").json()["lessons"] == []
