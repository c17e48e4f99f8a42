"""What a save would change in the prompt, before it is saved."""

import pytest
import time_machine
from django.utils import timezone

from prompt.services import prompt_diff
from tests.factories import make_agent

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent(acme):
    return make_agent(acme, name="值班", rows=["先查日志", ("停用的", False), "再看监控"])


def changed_lines(agent, **changes):
    diff = prompt_diff(agent, agent.company, now=timezone.now(), **changes)
    return [line for line in diff.split("\n") if line[:1] in "+-" and line[:3] not in ("+++", "---")]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"role": "你是运维助手。"}, []),
        ({"role": "  新角色\r\n"}, ["-你是运维助手。", "+新角色"]),
        (
            {"rows": [("再看监控", True), ("停用的", False), ("先查日志", True)]},
            ["-- 先查日志", "+- 先查日志"],
        ),
        ({"rows": [("先查日志", True), ("停用的", True), ("再看监控", True)]}, ["+- 停用的"]),
        ({"rows": []}, ["-## 最佳实践经验", "-", "-- 先查日志", "-- 再看监控", "-"]),
        ({"name": "夜班"}, ["-- 智能体: 值班", "+- 智能体: 夜班"]),
    ],
)
def test_the_diff_shows_exactly_what_a_runtime_would_see_change(agent, changes, expected):
    assert [line for line in changed_lines(agent, **changes) if line.strip()] == expected


@time_machine.travel("2026-06-12T06:05:00Z", tick=False)
def test_a_change_of_language_changes_every_heading(agent):
    lines = changed_lines(agent, language="en")
    assert "-## 工作环境" in lines and "+## Working Environment" in lines


def test_nothing_is_stored(agent):
    changed_lines(agent, role="新角色", rows=[])
    agent.refresh_from_db()
    assert (agent.system_prompt, agent.version, agent.experiences.count()) == ("你是运维助手。", 1, 3)
