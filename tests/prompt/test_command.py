"""render_prompt prints what a runtime gets."""

import pytest
import time_machine
from django.core.management import CommandError, call_command

from agents.services.agents import switch_agents
from agents.services.documents import put_document
from tests.factories import an_edit, make_agent

pytestmark = pytest.mark.django_db


@time_machine.travel("2026-06-12T06:05:00Z", tick=False)
def test_the_command_prints_the_text_of_the_api_and_nothing_else(acme, capsys):
    agent = make_agent(acme, name="值班", rows=["先查日志"])
    call_command("render_prompt", str(agent.pk))
    assert capsys.readouterr().out == (
        "你是运维助手。\n\n## 最佳实践经验\n\n- 先查日志\n\n## 工作环境\n\n- 智能体: 值班\n- 公司: acme\n\n"
        "## 当前时间\n\n2026-06-12 星期五 (Asia/Shanghai)\n"
    )


def test_user_company_task_and_phase_are_understood(acme, global_company, capsys):
    agent = make_agent(global_company, name="共享")
    put_document(
        agent=agent, company=acme, path="users/bob/profile.md", text="喜欢简短", edit=an_edit(), request="t"
    )
    options = ["--user", "bob", "--company", "acme", "--task", "修复", "--phase", "p"]
    call_command("render_prompt", str(agent.pk), *options)
    out = capsys.readouterr().out
    assert "喜欢简短" in out and "- 公司: acme" in out
    call_command("render_prompt", str(agent.pk), "--user", "bob")
    assert "喜欢简短" not in capsys.readouterr().out


def test_a_disabled_agent_is_printed_with_a_warning_on_the_other_stream(acme, capsys):
    agent = make_agent(acme)
    switch_agents(agent_ids=[agent.pk], enabled=False, edit=an_edit())
    call_command("render_prompt", str(agent.pk))
    shown = capsys.readouterr()
    assert "410" in shown.err and "410" not in shown.out and "你是运维助手。" in shown.out


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--user", "a/b"], "user_id"),
        (["--task", "x" * 4001], "task"),
        (["--company", "nowhere"], "nowhere"),
        (["--company", "rival"], "No such agent"),
    ],
)
def test_a_wrong_option_is_named(acme, rival, options, named):
    agent = make_agent(acme)
    with pytest.raises(CommandError, match=named):
        call_command("render_prompt", str(agent.pk), *options)


def test_an_unknown_agent_is_named(db):
    with pytest.raises(CommandError, match="999"):
        call_command("render_prompt", "999")
