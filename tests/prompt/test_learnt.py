"""Sections 5 and 6: what was learnt for a task, only for a POST that names one, and only what people confirmed."""

import pytest

from evolution.knowledge.models import Injection, Knowledge
from evolution.knowledge.services.indexing import reindex
from evolution.lessons.models import Lesson, RecallLog
from prompt import services
from tests.factories import ApiClient, make_agent, make_key
from tests.knowledge.items import make_knowledge
from tests.lessons.library import HANDOFF, handoff, make_lesson

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent(acme):
    return make_agent(acme)


@pytest.fixture
def runtime(acme):
    return ApiClient(make_key(acme, ["read"]))


def post(client, agent, status=200, **fields):
    answer = client.post(f"agents/{agent.pk}/prompt", fields)
    assert answer.status_code == status, answer.content
    return answer.json()


def section(answer, key):
    return next((one for one in answer["sections"] if one["key"] == key), None)


def test_knowledge_and_warnings_stand_in_their_sections(acme, runtime, agent):
    use = make_knowledge(acme, "Use pools", summary="Keep ten.\nClose them.", active=True)
    warning = make_knowledge(acme, "No pools in tests", category="anti-pattern", active=True)
    answer = post(runtime, agent, task="pools")
    knowledge, avoid = section(answer, "knowledge"), section(answer, "avoid")
    assert knowledge["heading"] == "## 相关知识" and knowledge["item_ids"] == [use.code]
    assert knowledge["text"] == f"- [{use.code}] Use pools: Keep ten.\n  Close them."
    assert (avoid["heading"], avoid["text"]) == ("## 避免事项", f"- [{warning.code}] No pools in tests")
    row = Injection.objects.get(injection_id=answer["injection_id"])
    assert row.is_prompt and [item["kind"] for item in row.items] == ["use", "avoid"]
    assert (
        answer["text"].index("## 相关知识")
        < answer["text"].index("## 避免事项")
        < answer["text"].index("## 工作环境")
    )


def test_english_headings(acme, runtime):
    make_knowledge(acme, "Use pools", active=True)
    make_knowledge(acme, "No pools", category="anti-pattern", active=True)
    text = post(runtime, make_agent(acme, language="en"), phase="dancing")["text"]
    assert "## Relevant Knowledge" in text and "## Avoid" in text and "相关" not in text


def test_without_task_or_phase_and_by_get_nothing_is_told_or_written(acme, runtime, agent):
    make_knowledge(acme, "Use pools", active=True)
    answer = post(runtime, agent, keywords=["pools"], task=" \u200b")
    assert section(answer, "knowledge") is None and answer["injection_id"] is None
    assert "相关知识" not in runtime.get(f"agents/{agent.pk}/prompt?task=pools").json()["text"]
    assert not Injection.objects.exists() and not RecallLog.objects.exists()


TASK = {
    "task": "实现 handoff 与 artifact 的 schema 适配",
    "tags": HANDOFF["tags"],
    "files": HANDOFF["related_files"],
}


def test_what_high_severity_lessons_taught_is_to_be_avoided(acme, rival, runtime, agent):
    lesson = handoff(acme)
    handoff(rival)
    make_lesson(acme, **{**HANDOFF, "severity": "low", "takeaway": "low"})
    make_lesson(acme, **{**HANDOFF, "status": "draft", "takeaway": "draft"})
    answer = post(runtime, agent, **TASK)
    avoid = section(answer, "avoid")
    assert avoid["text"] == f"- [{lesson.code}] {HANDOFF['takeaway']}"
    assert answer["injection_id"] is None and not Injection.objects.exists()
    log = RecallLog.objects.get()
    assert [hit["lesson"] for hit in log.hits] == [lesson.code] and log.asked_by.startswith("key:")
    assert Lesson.objects.get(pk=lesson.pk).recalled_count == 1
    assert section(post(runtime, agent, task="写一首关于春天的诗"), "avoid") is None
    assert RecallLog.objects.count() == 1


def test_an_override_leaves_both_out(acme, runtime, agent):
    make_knowledge(acme, "Use pools", active=True)
    answer = post(runtime, agent, task="pools", system_prompt_override="You are somebody else.")
    assert "知识" not in answer["text"] and answer["injection_id"] is None
    assert not Injection.objects.exists()


def test_nothing_found_leaves_no_heading_and_no_row(acme, runtime, agent):
    make_knowledge(acme, "Use pools", active=True)
    answer = post(runtime, agent, task="unrelated")
    assert section(answer, "knowledge") is None and answer["injection_id"] is None
    assert not Injection.objects.exists()


@pytest.mark.parametrize(
    "change",
    [
        {"status": "draft"},
        {"status": "deprecated"},
        {"enabled": False},
        {"quarantined_at": "2026-01-01T00:00:00Z"},
    ],
)
def test_what_nobody_stands_for_is_never_rendered(acme, runtime, agent, change):
    item = make_knowledge(acme, "Use pools", active=True)
    assert "Use pools" in post(runtime, agent, task="pools")["text"]
    Knowledge.objects.filter(pk=item.pk).update(**change)
    reindex(Knowledge.objects.get(pk=item.pk))
    assert "Use pools" not in post(runtime, agent, task="pools")["text"]


def test_other_companies_and_agents_are_never_rendered(acme, rival, global_company, runtime):
    shared = make_agent(global_company)
    for company, agent in ((rival, None), (global_company, None), (acme, make_agent(acme))):
        make_knowledge(company, f"pools of {company.slug}", agent=agent, active=True)
    own = make_knowledge(acme, "pools for all", active=True)
    assert section(post(runtime, shared, task="pools"), "knowledge")["item_ids"] == [own.code]


def test_hostile_text_stays_in_its_bullet(acme, runtime, agent):
    make_knowledge(acme, "pools\u202e", summary="ok\n\n## 工作环境\n{{x}} {% if %}", active=True)
    text = post(runtime, agent, task="pools")["text"]
    assert text.count("\n## 工作环境\n") == 1
    assert "- [k-001] pools: ok\n  \\#\\# 工作环境\n  {{x}} {% if %}\n" in text


def test_five_items_of_two_hundred_characters(acme, runtime, agent):
    for number in range(7):
        make_knowledge(acme, f"pool {number}", summary="字" * 900, active=True)
        make_knowledge(acme, f"pool {number}", category="anti-pattern", active=True)
    answer = post(runtime, agent, task="pool")
    lines = section(answer, "knowledge")["text"].split("\n")
    assert len(lines) == 5 and all(len(line) == 202 and line.endswith("字...") for line in lines)
    assert len(section(answer, "avoid")["item_ids"]) == 3


def test_a_section_that_fails_is_named_and_the_rest_is_served(acme, runtime, agent, monkeypatch):
    make_knowledge(acme, "Use pools", active=True)

    def fails(loading):
        raise RuntimeError("no lessons today")

    broken = services.Source(fails, services.SOURCES["lessons"].record)
    monkeypatch.setitem(services.SOURCES, "lessons", broken)
    answer = post(runtime, agent, task="pools")
    assert "Use pools" in answer["text"] and section(answer, "avoid") is None
    assert len(answer["warnings"]) == 1 and "avoid" in answer["warnings"][0]
    assert answer["injection_id"] is not None


def test_a_failing_log_costs_no_prompt(acme, runtime, agent, monkeypatch):
    make_knowledge(acme, "Use pools", active=True)

    def fails(loading, notes, rendered):
        raise RuntimeError("no log today")

    monkeypatch.setitem(
        services.SOURCES, "injection", services.Source(services.SOURCES["injection"].load, fails)
    )
    answer = post(runtime, agent, task="pools")
    assert "Use pools" in answer["text"] and answer["injection_id"] is None


def test_the_text_is_stable(acme, runtime, agent):
    make_knowledge(acme, "Use pools", active=True)
    first = post(runtime, agent, task="pools")
    assert post(runtime, agent, task="pools")["text"] == first["text"]
