"""Nothing that a runtime reports reaches a prompt before a person approved exactly that text."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.utils.module_loading import import_string

from config.schedule import SCHEDULE
from evolution.proposals.models import Proposal
from tests.factories import make_agent
from tests.proposals.samples import LESSON, PREFERENCE, RULE, note, whole

pytestmark = pytest.mark.django_db
SIGNED = {"reason": "gut", "confirmation": "运维"}
SKILL = "---\nname: deploy\ndescription: 部署\ndomain: 部署\n---\n# 部署\n"


@pytest.fixture
def owner(staff):
    return staff("owner", "view", "approve", "apply", "rollback")


@pytest.fixture
def agent(acme, owner):
    return make_agent(
        acme, name="运维", owner_id=owner.person.pk, documents=[("skills/deploy/SKILL.md", SKILL)]
    )


def canary(number):
    return f"Kanarienvogel{number}x"


ITEMS = [
    RULE | {"content": f"要 {canary(1)}"},
    PREFERENCE | {"content": canary(2)},
    note(canary(3)),
    LESSON | {"content": canary(4)},
    whole("system_prompt", f"你是 {canary(5)}。"),
    whole("guidance/tools.md", canary(6)),
    whole("skills/deploy/SKILL.md", SKILL.replace("description: 部署", f"description: {canary(7)}")),
    note(canary(8), target="users/u1/agents/{agent}/memory/x.md"),
]
TEACHINGS = [
    f"记住，我喜欢 {canary(11)}",
    f"记住，规则是必须 {canary(12)}",
    f"以后不要再 {canary(13)}",
    f"记住，我们公司用 {canary(14)}",
    f"不对，部署要用 {canary(15)}",
    f"记住 {canary(16)} 很贵",
]


def prompts(runtime, agent):
    """Every way to ask for the prompt of the agent."""
    yield runtime.prompt(agent)
    for user in ("u1", "u2"):
        path = f"agents/{agent.pk}/prompt?user_id={user}"
        yield runtime.get(path, accept="text/plain").content.decode()
        body = {"user_id": user, "task": " ".join(map(canary, range(20))), "phase": "x"}
        yield runtime.post(f"agents/{agent.pk}/prompt", body).content.decode()


def seen(runtime, agent):
    return {number for number in range(20) for text in prompts(runtime, agent) if canary(number) in text}


def everything(runtime, agent):
    """Send every canary through every door that takes reports; the codes of the proposals."""
    for item in ITEMS:
        runtime.draft(agent, {**item, "target": item.get("target", "").format(agent=agent.pk)})
    for text in TEACHINGS:
        answer = runtime.post("teachings", {"agent": agent.pk, "user_id": "u1", "text": text})
        assert answer.status_code == 201, answer.content.decode()
    return [proposal.code for proposal in Proposal.objects.order_by("number")]


def test_no_canary_is_in_any_prompt_before_and_each_is_after_its_approval(runtime, owner, proposer, agent):
    codes = everything(runtime, agent)
    for entry in SCHEDULE.values():
        import_string(entry["task"]).apply()
    assert seen(runtime, agent) == set()
    for code in codes:
        # The one before may have changed the target: an editor has it worked out again.
        proposer.patch(f"proposals/{code}/items/1", {})
        answer = owner.post(f"proposals/{code}/approve", SIGNED)
        assert answer.json()["status"] == "applied", answer.content.decode()
    shown = {1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 14, 16}
    assert seen(runtime, agent) == shown, "15 stands in a skill, whose body no prompt shows"


@pytest.mark.parametrize("verb", ["reject", "skip"])
def test_what_is_turned_down_never_reaches_a_prompt(runtime, owner, agent, verb):
    for code in everything(runtime, agent):
        assert owner.post(f"proposals/{code}/{verb}", {"reason": "r"}).status_code == 200
    assert seen(runtime, agent) == set()


def test_an_approved_proposal_that_waits_for_its_apply_is_in_no_prompt(runtime, approver_only, agent):
    code = runtime.code(agent, note(canary(3)))
    assert approver_only.post(f"proposals/{code}/approve").json()["status"] == "approved"
    assert seen(runtime, agent) == set()


def test_the_command_that_renders_a_prompt_shows_it_no_earlier(runtime, agent):
    everything(runtime, agent)
    out = StringIO()
    call_command("render_prompt", str(agent.pk), company="acme", user="u1", task="x", stdout=out)
    assert "你是运维助手" in out.getvalue() and "Kanarienvogel" not in out.getvalue()
