"""The page of a lesson: what it tells, editing through the service, stale saves, verbs, who may what."""

import pytest
from django.test import Client
from django.utils import timezone

from common.receipts.models import Receipt
from evolution.lessons.models import Lesson, LessonCitation
from evolution.lessons.rules.recall_request import checked_request
from evolution.lessons.services.citations import cite_lessons
from evolution.lessons.services.recalling import recall_and_log
from tests.admin.pages import form_values, save, shown_messages
from tests.factories import SYSTEM, make_agent
from tests.lessons.people import COMPLETE, make_lesson

pytestmark = pytest.mark.django_db
LIST = "/admin/lessons/lesson/"
NOW = timezone.now()


def page_of(lesson, verb="change"):
    return f"{LIST}{lesson.pk}/{verb}/"


def text_of(response):
    return response.content.decode()


def errors_of(response):
    form = response.context["adminform"].form
    return {name: list(errors) for name, errors in form.errors.items()}


def verb(client, lesson, slug, **more):
    version = {f"version-{lesson.pk}": lesson.version, "version": lesson.version}
    return client.post(page_of(lesson, slug), {"confirmed": "yes", **version, **more})


def test_the_page_tells_where_a_lesson_comes_from_and_what_became_of_it(signed_in, operator, acme):
    older = make_lesson(acme, NOW, title="older")
    lesson = make_lesson(acme, NOW, related=["EXP-001", "EXP-099"], supersedes="EXP-001", references=["#12"])
    Lesson.objects.filter(pk=lesson.pk).update(
        sha="81b950fe" * 5,
        subject="fix(db): x",
        capture_confidence=0.9,
        redactions={"password": 2},
        warnings=["missing:severity", "files_left_out:7", "unknown:type:ept", "body_cut", "line 3: odd"],
    )
    asked = checked_request({"task": "schema wrapper", "tags": ["schema"]})
    recall_and_log(company=acme, request=asked, actor=SYSTEM, now=NOW)
    cite_lessons(company=acme, reference="EP-007", codes=[lesson.code])
    shown = text_of(signed_in(operator).get(page_of(lesson)))
    for said in (
        "81b950fe" * 5,
        "fix(db): x",
        "90%",
        "<code>password</code> × 2",
        "severity: the file did not say it",
        "7 further files were changed and are not listed",
        "type: “ept” is no word of the list",
        "line 3: odd",
        "schema wrapper",
        "EP-007",
        "open: it is not archived meanwhile",
        f'href="{page_of(older)}">EXP-001</a> older',
        "EXP-099",
        "#12",
    ):
        assert said in shown, said
    assert LessonCitation.objects.filter(is_open=True).exists()
    assert f'href="{page_of(lesson)}">{lesson.code}</a>' in text_of(signed_in(operator).get(page_of(older)))


def test_what_is_missing_is_named_in_plain_words(signed_in, viewer, acme):
    draft = make_lesson(acme, NOW, "draft", what="", checklist=["a"], category="RULE-EXP")
    client = signed_in(viewer)
    shown = text_of(client.get(page_of(draft)))
    assert "Still missing before it can be confirmed" in shown
    assert "<b>What went wrong</b>: This part is empty." in shown
    assert "needs at least 3 items and has 1: add 2" in shown
    assert "<b>Rule</b>: A RULE-EXP names the experience or the document" in shown
    chinese = text_of(signed_in(viewer, "zh-hans").get(page_of(draft)))
    assert "确认前还缺少" in chinese and "出错原因" in chinese


def test_only_what_was_changed_is_written_and_with_a_receipt(signed_in, operator, acme):
    agent = make_agent(acme, name="运维")
    lesson = make_lesson(acme, NOW)
    answer = save(
        signed_in(operator),
        page_of(lesson),
        title="新标题",
        checklist="[x] schema?\n- [ ] 适配层？\ne2e?\n\n四",
        tags="Schema\nnew",
        agent=agent.pk,
        related="",
    )
    assert answer.status_code == 302
    lesson.refresh_from_db()
    assert (lesson.title, lesson.agent, lesson.version) == ("新标题", agent, 2)
    assert lesson.checklist == [
        {"text": "schema?", "done": True},
        {"text": "适配层？", "done": False},
        {"text": "e2e?", "done": False},
        {"text": "四", "done": False},
    ]
    assert lesson.tags == ["Schema", "new"] and lesson.what == COMPLETE["what"]
    receipt = Receipt.objects.get(trigger="lesson_changed")
    assert receipt.actor_name == "operator"


def test_an_untouched_form_writes_nothing(signed_in, operator, acme):
    lesson = make_lesson(acme, NOW, related_files=["a.py", "docs/"], references=["#1", "EXP-050"])
    Lesson.objects.filter(pk=lesson.pk).update(type="épée", what="a\n\nb")
    before = list(Lesson.objects.values())
    assert save(signed_in(operator), page_of(lesson)).status_code == 302
    assert list(Lesson.objects.values()) == before
    assert not Receipt.objects.filter(trigger="lesson_changed").exists()


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"title": ""}, "title"),
        ({"title": "x" * 201}, "title"),
        ({"checklist": "one\ntwo"}, "checklist"),
        ({"takeaway": "- one\n- two"}, "takeaway"),
        ({"supersedes": "EXP-001"}, "supersedes"),
        ({"supersedes": "EXP-002, EXP-003"}, "supersedes"),
        ({"related": "nonsense"}, "related"),
        ({"config_hash": "x"}, "config_hash"),
        ({"date": "31/31/2026"}, "date"),
        ({"type": "nonsense"}, "type"),
        ({"agent": "999999"}, "agent"),
    ],
)
def test_a_fault_stands_beside_its_field_and_nothing_is_written(signed_in, operator, acme, changes, field):
    lesson = make_lesson(acme, NOW)
    before = list(Lesson.objects.values())
    answer = save(signed_in(operator), page_of(lesson), **changes)
    assert answer.status_code == 200 and field in errors_of(answer), errors_of(answer)
    assert list(Lesson.objects.values()) == before
    sent = changes[field]
    # What was typed is still there; a choice that is none cannot be.
    assert field in ("type", "agent") or form_values(answer)[field].strip() == sent


def test_an_agent_of_another_company_is_refused(signed_in, chief, acme, rival):
    lesson = make_lesson(acme, NOW)
    answer = save(signed_in(chief), page_of(lesson), agent=make_agent(rival).pk)
    assert answer.status_code == 200 and Lesson.objects.get().agent is None


def test_a_stale_save_shows_what_differs_and_is_stored_only_when_read(signed_in, operator, acme):
    lesson = make_lesson(acme, NOW)
    client = signed_in(operator)
    values = form_values(client.get(page_of(lesson)))
    save(client, page_of(lesson), what="theirs", title="theirs too")
    refused = client.post(page_of(lesson), {**values, "how": "mine"})
    assert refused.status_code == 200
    shown = text_of(refused)
    assert "Somebody else saved this in the meantime." in shown and "theirs too" in shown
    assert Lesson.objects.get().how == COMPLETE["how"]
    assert client.post(page_of(lesson), {**values, "how": "mine", "seen_version": "2"}).status_code == 302
    assert Lesson.objects.get().how == "mine"


def test_expiry_by_hand_and_by_the_rule(signed_in, operator, acme):
    lesson = make_lesson(acme, NOW)
    by_rule = lesson.expires_on
    client = signed_in(operator)
    for sent, expected in (
        ({"expires_on": "2030-01-02"}, ("2030-01-02", True)),
        ({"expires_auto": "on"}, (str(by_rule), False)),
        ({"expires_on": "", "expires_auto": None}, ("None", True)),
        ({"expires_on": "", "expires_auto": "on"}, (str(by_rule), False)),
    ):
        assert save(client, page_of(lesson), **sent).status_code == 302
        lesson.refresh_from_db()
        assert (str(lesson.expires_on), lesson.expires_manual) == expected, sent


def test_a_lesson_is_written_by_hand_as_a_draft_of_the_chosen_company(signed_in, operator, acme, rival):
    agent = make_agent(acme, name="运维")
    client = signed_in(operator)
    opened = client.get(f"{LIST}add/?agent={agent.pk}")
    assert "Rival" not in text_of(opened)
    answer = save(client, f"{LIST}add/?agent={agent.pk}", title="新", what="w", tags="a\nb")
    assert answer.status_code == 302
    lesson = Lesson.objects.get()
    assert (lesson.status, lesson.company, lesson.agent) == ("draft", acme, agent)
    assert (lesson.source, lesson.created_by, lesson.tags) == ("manual", "operator", ["a", "b"])
    assert any("EXP-001" in text for text in shown_messages(answer))
    refused = client.post(f"{LIST}add/", {**form_values(client.get(f"{LIST}add/")), "company": rival.pk})
    assert refused.status_code == 200 and Lesson.objects.count() == 1


def test_the_verbs_of_a_state_are_offered_and_done_once(signed_in, approver, acme):
    draft = make_lesson(acme, NOW, "draft")
    client = signed_in(approver)
    assert page_of(draft, "confirm") in text_of(client.get(page_of(draft)))
    assert verb(client, draft, "confirm").status_code == 302
    draft.refresh_from_db()
    assert (draft.status, draft.decided_by) == ("active", "approver")
    shown = text_of(client.get(page_of(draft)))
    assert page_of(draft, "archive") in shown and page_of(draft, "confirm") not in shown
    again = verb(client, draft, "confirm")
    assert shown_messages(again)[-1] == "EXP-001: It is active."
    verb(client, draft, "archive")
    draft.refresh_from_db()
    verb(client, draft, "restore")
    assert Lesson.objects.get().status == "active"


def test_a_verb_from_an_old_page_is_refused(signed_in, approver, acme):
    draft = make_lesson(acme, NOW, "draft")
    client = signed_in(approver)
    Lesson.objects.filter(pk=draft.pk).update(version=3)
    asked = client.get(page_of(draft, "confirm") + "?v=1")
    assert form_values(asked)[f"version-{draft.pk}"] == "1"
    verb(client, draft, "confirm")
    assert Lesson.objects.get().status == "draft"


def test_an_incomplete_draft_is_not_confirmed(signed_in, approver, acme):
    draft = make_lesson(acme, NOW, "draft", takeaway="")
    answer = verb(signed_in(approver), draft, "confirm")
    assert shown_messages(answer) == ["EXP-001: Not complete: Takeaway."]
    assert Lesson.objects.get().status == "draft"


def test_only_drafts_and_rejected_ones_are_deleted(signed_in, approver, acme):
    active, draft = make_lesson(acme, NOW), make_lesson(acme, NOW, "draft")
    client = signed_in(approver)
    verb(client, active, "delete")
    assert Lesson.objects.count() == 2
    assert client.get(page_of(draft, "delete")).status_code == 200
    verb(client, draft, "delete")
    assert list(Lesson.objects.all()) == [active]


def test_a_rejected_lesson_is_read_only(signed_in, approver, acme):
    draft = make_lesson(acme, NOW, "draft")
    client = signed_in(approver)
    verb(client, draft, "reject", reason="重复")
    shown = client.get(page_of(draft))
    assert "Rejected: it cannot be changed any more." in text_of(shown) and "重复" in text_of(shown)
    assert "title" not in form_values(shown)
    assert client.post(page_of(draft), {"title": "x"}).status_code == 403


VERBS = ("confirm", "reject", "archive", "restore", "promote", "delete")


@pytest.mark.parametrize(
    ("name", "statuses"), [("viewer", {403}), ("operator", {403}), ("stranger", {403, 404})]
)
def test_a_forged_post_is_refused(signed_in, request, acme, name, statuses):
    draft = make_lesson(acme, NOW, "draft", title="canary")
    client = signed_in(request.getfixturevalue(name))
    before = list(Lesson.objects.values())
    for slug in VERBS:
        answer = verb(client, draft, slug, reason="r", post="yes")
        assert answer.status_code in statuses, slug
        assert b"canary" not in answer.content or name != "stranger"
    assert list(Lesson.objects.values()) == before


def test_a_get_changes_nothing_and_a_post_needs_its_token(signed_in, chief, acme):
    draft = make_lesson(acme, NOW, "draft")
    before = list(Lesson.objects.values()), Receipt.objects.count()
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(chief)
    for slug in (*VERBS, "change", "export", "history"):
        signed_in(chief).get(page_of(draft, slug), {"confirmed": "yes", "post": "yes", "reason": "r"})
        assert strict.post(page_of(draft, slug), {"confirmed": "yes"}).status_code == 403
    assert (list(Lesson.objects.values()), Receipt.objects.count()) == before


ATTACK = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"


def test_no_text_runs_and_nothing_stays_invisible(signed_in, viewer, operator, approver, acme):
    evil = f"{ATTACK}\u202e\u200b"
    draft = make_lesson(
        acme,
        NOW,
        "draft",
        title=evil,
        what=evil,
        takeaway=evil,
        trigger=evil,
        tags=[evil[:30]],
        related_files=[evil],
        references=[evil],
        checklist=[evil, "b", "c"],
    )
    Lesson.objects.filter(pk=draft.pk).update(
        category=evil[:40], type=evil[:40], subject=evil, warnings=[evil], created_by=evil, sha=evil[:60]
    )
    pages = [page_of(draft), LIST, f"{LIST}desk/?p={draft.pk}", page_of(draft, "reject")]
    pages += [f"{LIST}desk/?p={draft.pk}&edit=yes"]
    for person in (viewer, operator, approver):
        client = signed_in(person)
        for url in pages:
            shown = text_of(client.get(url))
            assert "<script>alert" not in shown and "<img src=x" not in shown, url
            assert "[U+202E]" in shown or person != approver, url


def test_the_page_costs_the_same_however_much_is_told(signed_in, operator, acme, django_assert_num_queries):
    lesson = make_lesson(acme, NOW)
    client = signed_in(operator)
    client.get(page_of(lesson))
    for _count in range(2):
        with django_assert_num_queries(10):
            client.get(page_of(lesson))
        for number in range(3):
            other = make_lesson(acme, NOW, title=f"t {number}", related=[lesson.code])
            LessonCitation.objects.create(lesson=lesson, reference=f"EP-{other.number}")
            asked = checked_request({"task": "schema wrapper", "tags": ["schema"]})
            recall_and_log(company=acme, request=asked, actor=SYSTEM, now=NOW)
