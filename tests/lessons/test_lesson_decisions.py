"""What staff decide about lessons: every transition of the table, successors, promotion, receipts."""

from datetime import date, timedelta

import pytest
from django.utils import timezone

from agents.models import Agent
from common.receipts.models import Receipt
from common.receipts.selectors import verify_chain
from common.search.models import SearchDocument
from common.search.sources import rebuild
from evolution.lessons.models import Lesson, LessonCitation
from evolution.lessons.services.citations import cite_lessons, close_citations
from evolution.lessons.services.links import chain_of
from tests.factories import make_agent, make_person
from tests.lessons.people import COMPLETE, Staff, make_lesson, problem

pytestmark = pytest.mark.django_db
NOW = timezone.now()
VERBS = ("confirm", "reject", "supersede", "archive", "restore", "promote")


@pytest.fixture
def staff(acme):
    """Edits, decides and promotes."""
    person = make_person("decider", role="Approver", companies=[acme])
    return Staff(person)


def state(number=1):
    return Lesson.objects.get(number=number).status


def act(staff, number, verb, body=None):
    return staff.post(f"lessons/EXP-{number:03d}/{verb}", body or {})


def in_state(acme, staff, wanted):
    """EXP-001 in a state, made the way people make it; EXP-002 is a plain active lesson."""
    make_lesson(acme, NOW, status="draft" if wanted in ("draft", "rejected") else "active")
    make_lesson(acme, NOW)
    bodies = {
        "rejected": ("reject", {"reason": "no"}),
        "archived": ("archive", {}),
        "superseded": ("supersede", {"superseded_by": "EXP-002"}),
    }
    if wanted in bodies:
        assert act(staff, 1, *bodies[wanted]).status_code == 200
    assert state() == wanted


#: (state, verb) -> state after; all other pairs are a STATE_CONFLICT.
ALLOWED = {
    ("draft", "confirm"): "active",
    ("draft", "reject"): "rejected",
    ("draft", "delete"): None,
    ("rejected", "delete"): None,
    ("active", "supersede"): "superseded",
    ("active", "archive"): "archived",
    ("active", "promote"): "active",
    ("archived", "restore"): "active",
}


@pytest.mark.parametrize("verb", [*VERBS, "delete"])
@pytest.mark.parametrize("before", ["draft", "active", "superseded", "archived", "rejected"])
def test_the_table_of_states(acme, staff, before, verb):
    agent = make_agent(acme)
    in_state(acme, staff, before)
    receipts = Receipt.objects.count()
    bodies = {
        "reject": {"reason": "no"},
        "supersede": {"superseded_by": "EXP-002"},
        "promote": {"agent": agent.pk},
    }
    answer = staff.delete("lessons/EXP-001") if verb == "delete" else act(staff, 1, verb, bodies.get(verb))
    if (before, verb) == ("superseded", "supersede"):
        assert (answer.status_code, state()) == (200, "superseded")  # the same said again
        assert Receipt.objects.count() == receipts
    elif (before, verb) not in ALLOWED:
        assert problem(answer)[:2] == (409, "STATE_CONFLICT")
        assert (state(), Receipt.objects.count()) == (before, receipts)
    else:
        assert answer.status_code == (204 if verb == "delete" else 200), answer.content.decode()
        after = ALLOWED[before, verb]
        assert Lesson.objects.filter(number=1).values_list("status", flat=True).first() == after
        assert Receipt.objects.count() > receipts
        assert verify_chain(acme).intact


@pytest.mark.parametrize(
    ("missing", "pointers"),
    [
        ({"what": " "}, ["/what"]),
        ({"when": "", "how": ""}, ["/when", "/how"]),
        ({"takeaway": "- one\n- two"}, ["/takeaway"]),
        ({"takeaway": "1. 甲\n2. 乙"}, ["/takeaway"]),
        ({"checklist": ["a", "b"]}, ["/checklist"]),
        ({"category": "RULE-EXP"}, ["/rule_experience"]),
    ],
)
def test_an_incomplete_draft_is_not_confirmed_and_every_missing_part_named(acme, staff, missing, pointers):
    make_lesson(acme, NOW, status="draft", **missing)
    assert problem(act(staff, 1, "confirm")) == (400, "LESSON_INCOMPLETE", pointers)
    assert state() == "draft"


@pytest.mark.parametrize("rule", ["rule_experience", "rule_document"])
def test_a_rule_names_what_holds_it(acme, staff, rule):
    agent = make_agent(acme, rows=["x"], documents=[("principles.md", "x")])
    held = {"rule_experience": agent.experiences.get().pk, "rule_document": agent.documents.get().pk}
    make_lesson(acme, NOW, status="draft", category="RULE-EXP", **{rule: held[rule]})
    assert act(staff, 1, "confirm").status_code == 200


def test_a_decision_says_who_when_and_why(acme, staff):
    make_lesson(acme, NOW, status="draft")
    assert problem(act(staff, 1, "reject", {"reason": " "})) == (400, "VALIDATION_ERROR", ["/reason"])
    body = act(staff, 1, "reject", {"reason": "twice"}).json()
    assert (body["decided_by"], body["decision_reason"]) == ("decider", "twice")
    receipt = Receipt.objects.latest("pk")
    line = receipt.lines.get()
    assert (receipt.trigger, line.type, line.target, line.status) == (
        "lesson_rejected",
        "lesson",
        "EXP-001",
        "user_rejected",
    )
    assert staff.patch("lessons/EXP-001", {"title": "x"}).status_code == 409


@pytest.mark.parametrize("role", ["Viewer", "Editor"])
def test_who_may_only_look_or_edit_decides_nothing(acme, role):
    person = Staff(make_person("p", role=role, companies=[acme]))
    make_lesson(acme, NOW, status="draft")
    for verb in ("confirm", "reject", "archive", "restore", "promote"):
        assert problem(act(person, 1, verb, {"reason": "x"}))[:2] == (403, "PERMISSION_DENIED")
    assert person.delete("lessons/EXP-001").status_code == 403
    assert person.patch("lessons/EXP-001", {"title": "x"}).status_code == (200 if role == "Editor" else 403)


def test_a_stale_decision_is_refused(acme, staff):
    make_lesson(acme, NOW, status="draft")
    staff.patch("lessons/EXP-001", {"what": "something else"})
    answer = staff.post("lessons/EXP-001/confirm", {}, if_match='"1"')
    assert problem(answer)[:2] == (412, "VERSION_MISMATCH")
    assert staff.post("lessons/EXP-001/confirm", {}, if_match='"2"').status_code == 200


# Successors


def test_the_newer_lesson_takes_the_place_of_the_older_one(acme, staff):
    for _ in range(2):
        make_lesson(acme, NOW)
    body = staff.patch("lessons/EXP-002", {"supersedes": "EXP-001"}).json()
    assert (body["supersedes"], state(1), state(2)) == ("EXP-001", "superseded", "active")
    assert staff.get("lessons/EXP-001").json()["superseded_by"] == "EXP-002"
    assert SearchDocument.objects.get(object_id=Lesson.objects.get(number=1).pk).state == 1
    assert {line.target for line in Receipt.objects.latest("pk").lines.all()} == {"EXP-001", "EXP-002"}
    assert staff.patch("lessons/EXP-002", {"supersedes": None}).json()["supersedes"] is None
    assert (state(1), SearchDocument.objects.filter(state=0).count()) == ("active", 2)


def test_a_draft_supersedes_only_once_it_is_confirmed(acme, staff):
    make_lesson(acme, NOW)
    make_lesson(acme, NOW, status="draft", supersedes="EXP-001")
    assert (state(1), staff.get("lessons/EXP-001").json()["superseded_by"]) == ("active", None)
    act(staff, 2, "confirm")
    assert (state(1), state(2)) == ("superseded", "active")


@pytest.mark.parametrize("how", ["reject", "delete"])
def test_a_successor_that_is_refused_frees_the_older_one(acme, staff, how):
    make_lesson(acme, NOW)
    make_lesson(acme, NOW, status="draft", supersedes="EXP-001")
    make_lesson(acme, NOW)
    assert staff.patch("lessons/EXP-003", {"supersedes": "EXP-001"}).status_code == 409
    answer = staff.delete("lessons/EXP-002") if how == "delete" else act(staff, 2, "reject", {"reason": "x"})
    assert answer.status_code in (200, 204)
    assert staff.patch("lessons/EXP-003", {"supersedes": "EXP-001"}).status_code == 200
    assert state(1) == "superseded"


def test_a_superseded_lesson_is_active_again_when_its_imported_draft_successor_goes(acme, staff):
    """Only an import can leave a draft before a superseded lesson."""
    make_lesson(acme, NOW)
    make_lesson(acme, NOW, status="draft", supersedes="EXP-001")
    Lesson.objects.filter(number=1).update(status="superseded")
    act(staff, 2, "reject", {"reason": "x"})
    assert state(1) == "active"


def test_no_lesson_supersedes_itself_however_long_the_way(acme, staff):
    for _ in range(4):
        make_lesson(acme, NOW)
    for newer, older in ((2, 1), (3, 2), (4, 3)):
        assert staff.patch(f"lessons/EXP-{newer:03d}", {"supersedes": f"EXP-{older:03d}"}).status_code == 200
    for number in (1, 2, 3):
        answer = staff.patch(f"lessons/EXP-{number:03d}", {"supersedes": "EXP-004"})
        assert problem(answer) == (400, "LESSON_SUPERSEDE_CYCLE", ["/supersedes"])
    answer = staff.patch("lessons/EXP-004", {"supersedes": "EXP-004"})
    assert problem(answer)[:2] == (400, "LESSON_SUPERSEDE_CYCLE")
    assert chain_of(acme) == {2: 1, 3: 2, 4: 3}


def test_without_the_check_there_would_be_a_cycle(acme, staff, monkeypatch):
    """Control."""
    for _ in range(2):
        make_lesson(acme, NOW)
    staff.patch("lessons/EXP-002", {"supersedes": "EXP-001"})
    monkeypatch.setattr("evolution.lessons.services.links.check_supersedes", lambda *args: None)
    answer = staff.patch("lessons/EXP-001", {"supersedes": "EXP-002"})
    assert problem(answer)[:2] == (409, "STATE_CONFLICT")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "VALIDATION_ERROR"),
        ({"supersedes": "EXP-002", "superseded_by": "EXP-002"}, "VALIDATION_ERROR"),
        ({"supersedes": "x"}, "VALIDATION_ERROR"),
        ({"superseded_by": 7}, "VALIDATION_ERROR"),
        ({"supersedes": "EXP-009"}, "NOT_FOUND"),
        ({"superseded_by": "EXP-009"}, "NOT_FOUND"),
        ({"superseded_by": "EXP-001"}, "LESSON_SUPERSEDE_CYCLE"),
    ],
)
def test_the_verb_needs_one_other_lesson(acme, staff, body, code):
    for _ in range(2):
        make_lesson(acme, NOW)
    assert problem(act(staff, 1, "supersede", body))[1] == code


def test_what_is_archived_or_superseded_has_no_further_successor(acme, staff):
    for _ in range(3):
        make_lesson(acme, NOW)
    act(staff, 1, "archive")
    assert staff.patch("lessons/EXP-002", {"supersedes": "EXP-001"}).status_code == 409
    assert staff.patch("lessons/EXP-001", {"supersedes": "EXP-002"}).status_code == 409
    staff.patch("lessons/EXP-003", {"supersedes": "EXP-002"})
    make_lesson(acme, NOW)
    assert staff.patch("lessons/EXP-004", {"supersedes": "EXP-002"}).status_code == 409


# Archive


def test_a_restored_lesson_lives_from_today_unless_its_day_was_set_by_hand(acme, staff):
    long_ago = timezone.localdate() - timedelta(days=400)
    make_lesson(acme, NOW, date=long_ago)
    make_lesson(acme, NOW, date=long_ago, expires_on=date(2026, 1, 1))
    for number in (1, 2):
        body = act(staff, number, "archive", {"reason": "old"}).json()
        assert (body["archive_reason"], body["archived_at"] is not None) == ("by_hand", True)
    first, second = (act(staff, number, "restore").json() for number in (1, 2))
    assert first["expires_on"] == (timezone.localdate() + timedelta(days=180)).isoformat()
    assert (first["archived_at"], first["archive_reason"]) == (None, "")
    assert second["expires_on"] == "2026-01-01"
    # A later change of the words leaves the day that the restore gave.
    assert staff.patch("lessons/EXP-001", {"title": "x"}).json()["expires_on"] == first["expires_on"]


def test_what_is_cited_openly_is_not_archived(acme, rival, staff):
    lesson = make_lesson(acme, NOW)
    make_lesson(rival, NOW)
    for _ in range(2):
        assert cite_lessons(company=acme, reference="EP-007", codes=["EXP-001", "EXP-009", "?"]) == [
            "EXP-001"
        ]
    assert list(LessonCitation.objects.values_list("lesson", flat=True)) == [lesson.pk]
    answer = act(staff, 1, "archive")
    assert problem(answer)[:2] == (409, "STATE_CONFLICT")
    assert "EP-007" in answer.json()["detail"]
    assert (
        close_citations(company=acme, reference="EP-007"),
        close_citations(company=acme, reference="EP-007"),
    ) == (1, 0)
    assert act(staff, 1, "archive").status_code == 200
    cite_lessons(company=acme, reference="EP-007", codes=[])
    assert not LessonCitation.objects.exists()


def test_after_all_decisions_the_index_is_what_it_would_be_anew(acme, staff):
    for _ in range(4):
        make_lesson(acme, NOW)
    make_lesson(acme, NOW, status="draft")
    staff.patch("lessons/EXP-002", {"supersedes": "EXP-001", "tags": ["x"], "agent": make_agent(acme).pk})
    act(staff, 3, "archive")
    act(staff, 4, "archive")
    act(staff, 4, "restore")
    staff.delete("lessons/EXP-005")
    report = rebuild(company=acme, kind="lesson", write=False)
    assert (report.documents, report.drift) == (4, 0)
    Lesson.objects.filter(number=1).update(title="behind its back")
    assert rebuild(company=acme, kind="lesson", write=False).outdated == 1  # control


# Promotion


def test_a_lesson_becomes_an_experience_at_the_end_of_the_agent_s_list(acme, staff):
    agent = make_agent(acme, rows=["one"])
    make_lesson(acme, NOW)
    body = act(staff, 1, "promote", {"agent": agent.pk}).json()
    rows = list(agent.experiences.order_by("order").values_list("content", flat=True))
    assert rows == ["one", "第一个版本就定义 schema。"]
    assert body["rule_experience"] == agent.experiences.get(content=rows[1]).pk
    assert Agent.objects.get(pk=agent.pk).version == 2
    triggers = list(Receipt.objects.order_by("pk").values_list("trigger", flat=True))
    assert triggers.count("lesson_promoted") == 2  # one of the lesson, one of the agent
    again = act(staff, 1, "promote", {"agent": agent.pk})
    assert problem(again)[:2] == (409, "STATE_CONFLICT")
    assert agent.experiences.count() == 2


def test_the_same_promotion_sent_twice_is_one(acme, staff):
    agent = make_agent(acme)
    make_lesson(acme, NOW, agent=agent)
    first, again = (staff.post("lessons/EXP-001/promote", {}, idempotency_key="k") for _ in range(2))
    assert (first.status_code, first.json()) == (200, again.json())
    assert agent.experiences.count() == 1


def test_a_draft_of_a_rule_gets_its_rule_and_can_then_be_confirmed(acme, staff):
    agent = make_agent(acme)
    make_lesson(acme, NOW, status="draft", category="RULE-EXP")
    assert act(staff, 1, "promote", {"agent": agent.pk}).status_code == 200
    assert act(staff, 1, "confirm").status_code == 200


@pytest.mark.parametrize(("takeaway", "status"), [("字" * 300, 200), ("字" * 301, 400), ("😀" * 300, 200)])
def test_a_takeaway_that_is_too_long_is_refused_and_never_cut(acme, staff, takeaway, status):
    agent = make_agent(acme)
    make_lesson(acme, NOW, takeaway=takeaway)
    answer = act(staff, 1, "promote", {"agent": agent.pk})
    assert answer.status_code == status
    if status == 400:
        assert problem(answer) == (400, "AGENT_EXPERIENCE_CONTENT_INVALID", ["/takeaway"])
        assert all(part in answer.json()["detail"] for part in ("300", "301", "1"))
    assert agent.experiences.count() == (status == 200)


def test_a_company_s_lesson_never_enters_a_shared_body(acme, rival, global_company, chief):
    shared, foreign = make_agent(global_company), make_agent(rival)
    make_lesson(acme, NOW)
    root = Staff(chief)
    answer = act(root, 1, "promote", {"agent": shared.pk})
    assert problem(answer)[:2] == (403, "COMPANY_FORBIDDEN")
    assert answer.json()["errors"][0]["code"] == "SHARED_BODY"
    assert problem(act(root, 1, "promote", {"agent": foreign.pk}))[:2] == (404, "AGENT_NOT_FOUND")
    assert problem(act(root, 1, "promote"))[:2] == (400, "VALIDATION_ERROR")
    assert shared.experiences.count() == foreign.experiences.count() == 0
    make_lesson(global_company, NOW)
    assert Staff(chief, "_global").post("lessons/EXP-001/promote", {"agent": shared.pk}).status_code == 200


def test_without_the_guard_it_would(acme, global_company, chief, monkeypatch):
    """Control."""
    shared = make_agent(global_company)
    make_lesson(acme, NOW)
    monkeypatch.setattr("evolution.lessons.services.promoting._check_own", lambda lesson, agent: None)
    assert act(Staff(chief), 1, "promote", {"agent": shared.pk}).status_code == 200
    assert shared.experiences.count() == 1


def test_a_failed_receipt_leaves_neither_experience_nor_link(acme, staff, monkeypatch):
    agent = make_agent(acme)
    make_lesson(acme, NOW)

    def fail(*args, **kwargs):
        raise RuntimeError

    monkeypatch.setattr("evolution.lessons.services.promoting.write_lesson_receipt", fail)
    assert act(staff, 1, "promote", {"agent": agent.pk}).status_code == 500
    assert (agent.experiences.count(), Lesson.objects.get().rule_experience_id) == (0, None)
    assert COMPLETE["takeaway"] == Lesson.objects.get().takeaway
