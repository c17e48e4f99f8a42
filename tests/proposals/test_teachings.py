"""Runtimes pass on what users say; what teaches something is proposed, nothing else."""

import pytest

from evolution.proposals.models import Proposal
from tests.factories import make_agent
from tests.proposals.samples import PREFERENCE

pytestmark = pytest.mark.django_db
SKILL = "---\nname: contract-review\ndomain: 合同, contract\n---\n# 合同审查\n"


@pytest.fixture
def agent(acme):
    return make_agent(acme, name="法务", documents=[("skills/contract-review/SKILL.md", SKILL)])


def teach(runtime, agent, text, **fields):
    return runtime.post("teachings", {"agent": agent.pk, "user_id": "u1", "text": text, **fields})


def test_a_preference_is_proposed_for_the_users_profile(runtime, agent):
    answer = teach(runtime, agent, "记住，我喜欢你用表格来展示对比信息")
    assert answer.status_code == 201, answer.content.decode()
    proposal = answer.json()
    item = proposal["items"][0]
    assert (item["type"], item["content"]) == ("user_preference", "用表格来展示对比信息")
    assert item["target"] == "users/u1/profile.md"
    assert (proposal["risk"], proposal["status"], proposal["trigger"]) == (
        "low",
        "pending",
        "explicit_teaching",
    )


def test_a_correction_goes_to_the_skill_whose_domain_it_names(runtime, agent):
    proposal = teach(runtime, agent, "不对，合同金额要用大写数字").json()
    assert proposal["correction"]["rule"] == "合同金额要用大写数字"
    assert proposal["items"][0]["type"] == "error_correction"
    assert proposal["items"][0]["target"] == "skills/contract-review/SKILL.md"
    assert proposal["impact"] == {
        "affects": "skills/contract-review/SKILL.md",
        "frequency": "low",
        "risk_level": "medium",
    }


@pytest.mark.parametrize("text", ["不用记住这个", "没什么不对", "好的，谢谢", "What time is it?"])
def test_what_teaches_nothing_proposes_nothing(runtime, agent, text):
    answer = teach(runtime, agent, text)
    assert (answer.status_code, answer.json()) == (200, {"detected": False})
    assert not Proposal.objects.exists()


def test_asking_what_was_learnt_answers_the_last_changes_and_proposes_nothing(runtime, agent):
    answer = teach(runtime, agent, "你最近学到了什么").json()
    assert answer == {"detected": True, "type": "introspection", "recent_changes": []}
    assert not Proposal.objects.exists()


def test_the_same_teaching_twice_is_one_proposal_seen_twice(runtime, agent):
    first = teach(runtime, agent, "记住，我喜欢你用表格")
    again = teach(runtime, agent, "记住，我喜欢你用表格")
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json()["code"] == first.json()["code"]
    assert Proposal.objects.get().seen_count == 2


def test_a_teaching_without_content_takes_the_message_before_it(runtime, agent):
    context = [{"role": "user", "text": "表格放在最前面"}]
    assert (
        teach(runtime, agent, "记住这个", context=context).json()["items"][0]["content"] == "表格放在最前面"
    )


@pytest.mark.parametrize("context", [[None], [{}], [[]], ["text"], [{"role": "user", "text": None}], {}])
def test_a_message_before_is_an_object_with_role_and_text(runtime, agent, context):
    assert teach(runtime, agent, "记住这个", context=context).status_code == 400
    assert not Proposal.objects.exists()


def test_without_any_content_it_stays_a_draft_until_somebody_says_what(runtime, reviewer, agent):
    proposal = teach(runtime, agent, "记住这个").json()
    assert (proposal["status"], proposal["needs_content"]) == ("draft", True)
    assert proposal["items"][0]["faults"][0]["code"] == "NEEDS_CONTENT"
    assert reviewer.post(f"proposals/{proposal['code']}/submit").status_code == 400
    said = reviewer.patch(f"proposals/{proposal['code']}/items/1", {"content": "表格放在最前面"}).json()
    assert (said["status"], said["needs_content"]) == ("pending", False)
    assert "+- 表格放在最前面" in said["items"][0]["diff"]


def test_secrets_in_a_teaching_are_taken_out_before_they_are_stored(runtime, agent):
    teach(runtime, agent, "记住，密码：hunter2-Secret!9 用来登录")
    stored = Proposal.objects.get()
    assert "hunter2" not in stored.rationale + stored.title + stored.items.get().content


def test_a_user_id_that_would_name_another_users_folder_is_refused(runtime, agent):
    answer = runtime.post("teachings", {"agent": agent.pk, "user_id": "u1.", "text": "记住，我喜欢表格"})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == "/user_id"


@pytest.mark.parametrize("number", [1.5, 15, 1e3, True])
def test_a_user_id_is_a_text_and_no_number(runtime, agent, number):
    """1.5 and 1.50 are one number and two users."""
    body = {"agent": agent.pk, "user_id": number, "text": "记住，我喜欢表格"}
    answer = runtime.post("teachings", body)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (400, "/user_id")
    assert runtime.post("proposals", {**body, "items": [PREFERENCE]}).json()["code"] == "VALIDATION_ERROR"
    code = runtime.code(agent, PREFERENCE)
    refused = runtime.post(f"proposals/{code}/approve", {"decided_by": number})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (400, "/decided_by")
    assert list(Proposal.objects.values_list("status", flat=True)) == ["pending"]


def test_a_runtime_relays_its_users_decision_on_a_low_risk_teaching(runtime, agent):
    code = teach(runtime, agent, "记住，我喜欢你用表格来展示对比信息").json()["code"]
    assert runtime.post(f"proposals/{code}/approve").status_code == 400
    answer = runtime.post(f"proposals/{code}/approve", {"decided_by": "u1"})
    assert answer.json()["status"] == "applied", answer.content.decode()
    prompt = runtime.get(f"agents/{agent.pk}/prompt?user_id=u1", accept="text/plain").content.decode()
    assert "- 用表格来展示对比信息" in prompt


def test_what_a_user_agrees_to_shows_its_hidden_characters(runtime, agent):
    code = teach(runtime, agent, "记住，我喜欢表\u202e格\u200b").json()["code"]
    text = runtime.get(f"proposals/{code}/text").json()["text"]
    assert "表[U+202E]格" in text and "\u202e" not in text and "\u200b" not in text


def test_a_runtime_cannot_relay_a_decision_about_somebody_elses_files(runtime, agent):
    code = teach(runtime, agent, "记住，我喜欢你用表格来展示对比信息").json()["code"]
    assert runtime.post(f"proposals/{code}/approve", {"decided_by": "u2"}).status_code == 403
