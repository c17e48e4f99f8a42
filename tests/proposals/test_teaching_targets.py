"""Where a teaching goes, in Chinese and English side by side; how often a correction came; what answers stay."""

from datetime import timedelta

import pytest
from django.utils import timezone

from evolution.proposals.models import Proposal
from tests.factories import ApiClient, make_agent, make_key

pytestmark = pytest.mark.django_db
SKILL = "---\nname: contract-review\ndomain: 合同, contract\n---\n# 合同审查\n"


@pytest.fixture
def agent(acme):
    return make_agent(acme, name="法务", documents=[("skills/contract-review/SKILL.md", SKILL)])


def teach(client, agent, text, **fields):
    return client.post("teachings", {"agent": agent.pk, "user_id": "u1", "text": text, **fields})


TABLE = [
    ("记住，我喜欢你用表格", "user_preference", "users/u1/profile.md", "low"),
    ("Remember this: I prefer short answers", "user_preference", "users/u1/profile.md", "low"),
    ("记住，我们公司用飞书", "relationship_memory", "users/u1/agents/{agent}/memory/learned.md", "low"),
    ("Remember this: my project is X", "relationship_memory", "users/u1/agents/{agent}/memory/learned.md", "low"),
    ("记住，规则是先看日志", "behavior_rule", "principles.md", "high"),
    ("From now on, always attach the log", "behavior_rule", "principles.md", "high"),
    ("以后不要再用缩写", "behavior_rule", "principles.md", "high"),
    ("Never use abbreviations", "behavior_rule", "principles.md", "high"),
    ("记住，合同要看附件", "skill_optimization", "skills/contract-review/SKILL.md", "medium"),
    ("Remember this: a contract has two pages", "skill_optimization", "skills/contract-review/SKILL.md", "medium"),
    ("记住，服务器在上海", "knowledge", "memory/learned.md", "medium"),
    ("Remember this: the server is in Shanghai", "knowledge", "memory/learned.md", "medium"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "item_type", "target", "risk"), TABLE)
def test_a_teaching_goes_where_its_kind_belongs(runtime, agent, text, item_type, target, risk):
    proposal = teach(runtime, agent, text).json()
    item = proposal["items"][0]
    assert (item["type"], item["target"]) == (item_type, target.format(agent=agent.pk))
    assert (item["risk"], proposal["trigger"], proposal["detected"]) == (risk, "explicit_teaching", True)
    assert proposal["intent"]["type"] == item_type and proposal["rationale"] == text
    assert proposal["intent"]["target"] == item["target"]


@pytest.mark.parametrize(
    ("text", "wrong", "correct"),
    [
        ("不对，不是一百万，是壹佰万元整", "一百万", "壹佰万元整"),
        ("That's wrong, it is not the draft but the signed copy", "the draft", "the signed copy"),
        ("不对，合同金额要用大写数字", None, None),
    ],
)
def test_a_correction_names_wrong_and_right_where_the_user_does(runtime, agent, text, wrong, correct):
    found = teach(runtime, agent, text).json()["correction"]
    assert (found["wrong"], found["correct"], found["type"]) == (wrong, correct, "error_correction")
    proposal = Proposal.objects.get()
    assert proposal.rationale == (f"{wrong} → {correct}" if wrong else text)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("不对，报价必须含税", "principles.md"),
        ("that's wrong, prices always include tax", "principles.md"),
        ("that's wrong, it was whenever we meet", "memory/learned.md"),
        ("that's wrong, nevertheless the price includes tax", "memory/learned.md"),
    ],
)
def test_a_correction_that_demands_goes_to_the_principles(runtime, agent, text, target):
    item = teach(runtime, agent, text).json()["items"][0]
    assert (item["type"], item["target"]) == ("error_correction", target)


@pytest.mark.parametrize(("times", "frequency"), [(1, "low"), (2, "medium"), (3, "high"), (5, "high")])
def test_the_same_correction_again_counts_though_it_makes_no_new_item(runtime, agent, times, frequency):
    for _ in range(times):
        answer = teach(runtime, agent, "不对，合同金额要用大写数字").json()
    assert answer["impact"]["frequency"] == frequency
    assert Proposal.objects.count() == 1


def test_other_corrections_of_the_same_document_count_and_old_ones_do_not(runtime, agent, time_machine_at):
    start = timezone.now()
    for days, number, frequency in ((0, 1, "low"), (20, 2, "medium"), (30, 3, "high"), (51, 4, "medium")):
        with time_machine_at(start + timedelta(days=days)):
            answer = teach(runtime, agent, f"不对，合同要有第{number}份附件").json()
        assert answer["impact"]["frequency"] == frequency, (days, answer["impact"])


def test_a_teaching_that_is_too_long_says_how_much_to_remove(runtime, agent):
    answer = teach(runtime, agent, "记住，" + "字" * 2500)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (400, "/text")
    assert "500" in answer.json()["detail"]


def test_a_known_teaching_answers_the_proposal_that_says_it(runtime, reviewer, agent):
    code = teach(runtime, agent, "记住，服务器在上海").json()["code"]
    reviewer.post(f"proposals/{code}/approve")
    again = teach(runtime, agent, "记住， 服务器在上海")
    assert (again.status_code, again.json()["code"], again.json()["status"]) == (200, code, "applied")
    reviewer.post(f"proposals/{code}/rollback", {"reason": "r"})
    assert teach(runtime, agent, "记住，服务器在上海").status_code == 201


def test_two_teachings_without_content_are_two_drafts(runtime, agent):
    codes = {teach(runtime, agent, "记住这个", conversation_id=name).json()["code"] for name in "ab"}
    assert len(codes) == 2


def test_a_contradicting_teaching_shows_what_it_contradicts(runtime, acme):
    agent = make_agent(acme, name="b", documents=[("principles.md", "## 规则\n\n- 报告禁止附图\n")])
    item = teach(runtime, agent, "记住，报告必须附图").json()["items"][0]
    assert [conflict["kind"] for conflict in item["conflicts"]] == ["contradiction"]


def test_a_repeated_request_answers_the_same(runtime, agent):
    first = teach(runtime, agent, "记住，服务器在上海", idempotency_key="k")
    again = teach(runtime, agent, "记住，服务器在上海", idempotency_key="k")
    assert (first.status_code, again.status_code) == (201, 201) and first.json() == again.json()
    assert Proposal.objects.get().seen_count == 1
    assert teach(runtime, agent, "记住，别的", idempotency_key="k").status_code == 409


def test_introspection_answers_the_last_ten_applied_changes_newest_first(runtime, reviewer, agent):
    for number in range(12):
        code = teach(runtime, agent, f"记住，服务器{number}在上海").json()["code"]
        reviewer.patch(f"proposals/{code}/items/1", {})
        assert reviewer.post(f"proposals/{code}/approve").json()["status"] == "applied"
    answer = teach(runtime, agent, "What have you learned?").json()
    assert answer["type"] == "introspection"
    codes = [change["code"] for change in answer["recent_changes"]]
    assert codes == [f"EP-{number:03d}" for number in range(12, 2, -1)]
    assert Proposal.objects.count() == 12


def test_teaching_needs_the_scope_report(acme, agent):
    reader = ApiClient(make_key(acme, scopes=["read", "proposals:decide"]))
    assert teach(reader, agent, "记住，服务器在上海").status_code == 403


@pytest.mark.parametrize(
    "fields",
    [
        {"text": ""},
        {"text": None},
        {"user_id": "a/b"},
        {"user_id": "x" * 65},
        {"user_id": "u."},
        {"agent": 999_999},
        {"context": "x"},
        {"context": [{"role": "robot", "text": "x"}]},
        {"context": [{"role": "user"}]},
        {"context": [{"role": "user", "text": "x"}] * 51},
        {"conversation_id": "x" * 201},
    ],
)
def test_what_is_no_teaching_is_refused_or_teaches_nothing(runtime, agent, fields):
    answer = runtime.post("teachings", {"agent": agent.pk, "user_id": "u1", "text": "记住，x 是 y", **fields})
    assert answer.status_code in (400, 404) or answer.json() == {"detected": False}
    assert not Proposal.objects.exists()
