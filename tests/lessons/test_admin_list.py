"""The list of lessons in the admin: what it shows, finds and exports, and decisions about several at once."""

import io
import zipfile
from datetime import timedelta

import pytest
from django.utils import timezone

from common.receipts.models import Receipt
from evolution.lessons.markdown import write_lesson
from evolution.lessons.models import Lesson
from evolution.lessons.rules.lifecycle import completeness_faults
from evolution.lessons.selectors.drafts import complete, incomplete
from evolution.lessons.services.records import record_of
from evolution.lessons.services.storing import completeness_of
from experiences.models import Experience
from tests.factories import make_agent, make_person
from tests.lessons.people import COMPLETE, make_lesson

pytestmark = pytest.mark.django_db
LIST = "/admin/lessons/lesson/"
NOW = timezone.now()


def codes(response):
    return [lesson.code for lesson in response.context["cl"].result_list]


def bulk(client, action, lessons, **more):
    chosen = [lesson.pk for lesson in lessons]
    versions = {f"version-{lesson.pk}": lesson.version for lesson in lessons}
    return client.post(LIST, {"action": action, "_selected_action": chosen, **versions, **more}, follow=True)


def states(*lessons):
    return [Lesson.objects.get(pk=lesson.pk).status for lesson in lessons]


def said(response):
    return [str(message) for message in response.context["messages"]]


def test_drafts_come_first_and_codes_sort_as_numbers(signed_in, viewer, acme):
    lessons = [make_lesson(acme, NOW, title=f"t{number}") for number in range(3)]
    Lesson.objects.filter(pk=lessons[0].pk).update(number=1000)
    make_lesson(acme, NOW, "draft", title="waits")
    client = signed_in(viewer)
    assert codes(client.get(LIST)) == ["EXP-004", "EXP-1000", "EXP-003", "EXP-002"]
    assert codes(client.get(LIST, {"o": "1"})) == ["EXP-002", "EXP-003", "EXP-004", "EXP-1000"]


def test_severity_sorts_by_weight(signed_in, viewer, acme):
    for severity in ("medium", "high", "low"):
        make_lesson(acme, NOW, severity=severity)
    assert codes(signed_in(viewer).get(LIST, {"o": "4"})) == ["EXP-003", "EXP-001", "EXP-002"]


def test_filters_and_search_find_what_they_name(signed_in, viewer, acme):
    agent = make_agent(acme, name="运维")
    today = timezone.localdate()
    make_lesson(acme, NOW, title="plain")
    make_lesson(acme, NOW, "draft", title="登录 draft", severity="high", agent=agent, tags=["ＡＵＴＨ"])
    make_lesson(acme, NOW, title="refactoring", type="refactor", category="CALIB-EXP")
    make_lesson(acme, NOW, title="soon", expires_on=today + timedelta(days=30))
    make_lesson(acme, NOW, title="over", expires_on=today - timedelta(days=1))
    odd = make_lesson(acme, NOW, "draft", title="odd", takeaway="")
    Lesson.objects.filter(pk=odd.pk).update(type="épée", source="import")
    client = signed_in(viewer)
    for query, expected in {
        "status=draft": ["EXP-006", "EXP-002"],
        "severity=high": ["EXP-002"],
        "type=refactor": ["EXP-003"],
        "type=other": ["EXP-006"],
        "category=CALIB-EXP": ["EXP-003"],
        "source=import": ["EXP-006"],
        "tag=auth": ["EXP-002"],
        f"agent__id__exact={agent.pk}": ["EXP-002"],
        "parts=incomplete": ["EXP-006"],
        "expires=soon": ["EXP-004"],
        "expires=over": ["EXP-005"],
        "expires=never": ["EXP-003"],
        "q=EXP-003": ["EXP-003"],
        "q=登录": ["EXP-002"],
        "q=nothing": [],
    }.items():
        name, _, value = query.partition("=")
        parameter = "status__exact" if name == "status" else "source__exact" if name == "source" else name
        assert codes(client.get(LIST, {parameter: value})) == expected, query


INCOMPLETE = (
    {},
    {"what": ""},
    {"takeaway": ""},
    {"checklist": ["a", "b"]},
    {"category": "RULE-EXP"},
    {"takeaway": "- one\n- two"},
    {"takeaway": "first\n1. one\ntext\n2. two"},
    {"takeaway": "- one"},
    {"takeaway": "1.5 times\n2.5 times"},
    {"takeaway": "① 一\n② 二"},
    {"takeaway": "a-b\n-c"},
)


def test_the_filter_says_the_same_as_the_rule(acme):
    for values in INCOMPLETE:
        make_lesson(acme, NOW, "draft", **values)
    lessons = Lesson.objects.order_by("pk")
    by_rule = {lesson.pk for lesson in lessons if completeness_faults(completeness_of(lesson))}
    assert {lesson.pk for lesson in incomplete(Lesson.objects.all())} == by_rule
    assert {lesson.pk for lesson in complete(Lesson.objects.all())} == {row.pk for row in lessons} - by_rule
    assert len(by_rule) == 7


def test_nothing_of_another_company_is_seen_found_or_exported(signed_in, stranger, viewer, acme, rival):
    agent = make_agent(acme, name="canary agent")
    lesson = make_lesson(acme, NOW, title="canary", tags=["canary"], agent=agent)
    client = signed_in(stranger)
    for query in ({}, {"q": "canary"}, {"q": "EXP-001"}, {"tag": "canary"}, {"agent__id__exact": agent.pk}):
        response = client.get(LIST, query)
        assert codes(response) == [] and b"canary agent" not in response.content
    assert b"canary" not in bulk(client, "export_chosen", [lesson]).content
    bulk(client, "archive_chosen", [lesson], confirmed="yes")
    assert states(lesson) == ["active"]
    for page in (
        "change",
        "confirm",
        "reject",
        "promote",
        "archive",
        "restore",
        "export",
        "delete",
        "history",
    ):
        assert client.get(f"{LIST}{lesson.pk}/{page}/").status_code == 404, page
    field = {"app_label": "lessons", "model_name": "lesson", "field_name": "agent", "term": "canary"}
    assert client.get("/admin/autocomplete/", field).json()["results"] == []
    assert len(signed_in(viewer).get(LIST).context["cl"].result_list) == 1


def test_several_drafts_are_confirmed_and_what_is_incomplete_is_left_out(signed_in, approver, acme):
    ready = [make_lesson(acme, NOW, "draft", title=f"ready {number}") for number in range(2)]
    lacking = make_lesson(acme, NOW, "draft", title="lacking", takeaway="", checklist=[])
    client = signed_in(approver)
    asked = bulk(client, "confirm_chosen", [*ready, lacking]).content.decode()
    assert "Not complete: Takeaway, Checklist." in asked and "ready 0" in asked
    assert states(*ready) == ["draft", "draft"]
    done = bulk(client, "confirm_chosen", [*ready, lacking], confirmed="yes")
    assert said(done) == ["2 confirmed: EXP-001, EXP-002"]
    assert states(*ready, lacking) == ["active", "active", "draft"]
    assert Receipt.objects.filter(trigger="lesson_confirmed").count() == 2
    again = bulk(client, "confirm_chosen", ready, confirmed="yes")
    assert said(again) == ["EXP-001: It is active.", "EXP-002: It is active."]


def test_what_changed_meanwhile_is_refused_and_the_others_go_on(signed_in, approver, acme):
    first, second = (make_lesson(acme, NOW, "draft", title=title) for title in ("a", "b"))
    Lesson.objects.filter(pk=first.pk).update(version=5)
    done = bulk(signed_in(approver), "confirm_chosen", [first, second], confirmed="yes")
    assert states(first, second) == ["draft", "active"]
    assert any("EXP-001: The lesson changed in the meantime" in text for text in said(done))


def test_rejecting_needs_a_reason(signed_in, approver, acme):
    drafts = [make_lesson(acme, NOW, "draft", title=title) for title in ("a", "b")]
    client = signed_in(approver)
    assert b'name="reason"' in bulk(client, "reject_chosen", drafts).content
    assert "Say why" in said(bulk(client, "reject_chosen", drafts, confirmed="yes", reason=" "))[0]
    assert states(*drafts) == ["draft", "draft"]
    bulk(client, "reject_chosen", drafts, confirmed="yes", reason="噪音")
    assert states(*drafts) == ["rejected", "rejected"]
    assert set(Lesson.objects.values_list("decision_reason", flat=True)) == {"噪音"}


def test_archive_and_restore(signed_in, approver, acme):
    lesson = make_lesson(acme, NOW)
    client = signed_in(approver)
    bulk(client, "archive_chosen", [lesson], confirmed="yes")
    assert states(lesson) == ["archived"]
    bulk(client, "restore_chosen", [Lesson.objects.get()], confirmed="yes")
    assert states(lesson) == ["active"]


def test_promotion_shows_the_size_and_refuses_what_is_too_long(signed_in, approver, acme):
    agent = make_agent(acme, name="运维")
    short = make_lesson(acme, NOW, title="short")
    long = make_lesson(acme, NOW, title="long", takeaway="字" * 301)
    client = signed_in(approver)
    asked = bulk(client, "promote_chosen", [short, long]).content.decode()
    assert (
        f"{len(COMPLETE['takeaway'])} of 300 characters" in asked
        and "this has 301: remove 1" in asked
        and "运维" in asked
    )
    done = bulk(client, "promote_chosen", [short, long], confirmed="yes", agent=agent.pk)
    assert said(done) == ["1 made an experience: EXP-001"]
    assert list(Experience.objects.values_list("content", flat=True)) == [COMPLETE["takeaway"]]
    short.refresh_from_db()
    assert short.rule_experience.agent == agent


@pytest.mark.parametrize("name", ["rival", "global", "nothing", "nonsense"])
def test_no_lesson_goes_into_an_agent_of_another_company(
    signed_in, approver, acme, rival, global_company, name
):
    lesson = make_lesson(acme, NOW)
    agents = {"rival": make_agent(rival).pk, "global": make_agent(global_company).pk, "nothing": ""}
    done = bulk(
        signed_in(approver), "promote_chosen", [lesson], confirmed="yes", agent=agents.get(name, "9" * 30)
    )
    assert said(done) and Experience.objects.count() == 0
    assert Lesson.objects.get().rule_experience is None


def test_the_export_holds_each_file(signed_in, viewer, acme):
    lessons = [make_lesson(acme, NOW, title="甲"), make_lesson(acme, NOW, "draft", title="乙")]
    answer = bulk(signed_in(viewer), "export_chosen", lessons)
    archive = zipfile.ZipFile(io.BytesIO(answer.content))
    assert archive.namelist() == ["EXP-001.md", "EXP-002.md"]
    assert archive.read("EXP-001.md").decode() == write_lesson(record_of(lessons[0]))
    assert bulk(signed_in(viewer), "export_chosen", lessons).content == answer.content


def test_lessons_of_several_companies_are_exported_apart_and_not_promoted(signed_in, chief, acme, rival):
    lessons = [make_lesson(acme, NOW), make_lesson(rival, NOW)]
    client = signed_in(chief)
    archive = zipfile.ZipFile(io.BytesIO(bulk(client, "export_chosen", lessons).content))
    assert archive.namelist() == ["acme/EXP-001.md", "rival/EXP-001.md"]
    assert said(bulk(client, "promote_chosen", lessons)) == [
        "Choose lessons of one company: its agent gets them."
    ]


def test_a_shared_lesson_is_read_and_not_decided(signed_in, acme, global_company):
    shared = make_lesson(global_company, NOW, "draft", title="shared")
    client = signed_in(make_person("decider", role="Approver", companies=[acme]))
    assert codes(client.get(LIST)) == ["EXP-001"]
    assert bulk(client, "confirm_chosen", [shared], confirmed="yes").status_code == 403
    assert states(shared) == ["draft"]


def test_the_list_costs_the_same_however_long_it_is(signed_in, viewer, acme, django_assert_num_queries):
    client = signed_in(viewer)
    make_lesson(acme, NOW, agent=make_agent(acme))
    client.get(LIST)
    for _count in range(2):
        with django_assert_num_queries(8):
            assert client.get(LIST).status_code == 200
        for number in range(5):
            make_lesson(acme, NOW, "draft", title=f"t {number}")
