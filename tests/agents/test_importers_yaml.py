"""YAML agents (role, goal, backstory) and Dify applications."""

import pytest

from agents.importers.items import FailedItem, ImportedAgent, SkippedItem
from agents.importers.yaml_agents import read_yaml_agents
from common.errors import ApplicationError

CREW = """\
analyst:
  role: >
    资深
    分析师
  goal: >
    Find {topic} trends
  backstory: >
    You know the market.

writer:
  role: Writer
  goal: Write
"""


def read(text):
    return read_yaml_agents(text, "a.yaml")


def test_role_goal_and_backstory_make_one_role_definition():
    analyst, writer = read(CREW)
    assert (analyst.name, analyst.line) == ("资深 分析师", 1)
    assert analyst.system_prompt == (
        "## Role\n\n资深 分析师\n\n## Goal\n\nFind {topic} trends\n\n## Backstory\n\nYou know the market."
    )
    assert (writer.name, writer.line) == ("Writer", 10)
    assert analyst.warnings == ()
    assert writer.warnings == ("a.yaml:10: without backstory",)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("role: 甲\ngoal: x\n", [1]),
        ("- role: 甲\n  goal: x\n- role: 甲\n  backstory: y\n", [1, 3]),
        ("version: 1\nagents:\n  a:\n    role: 甲\n    goal: x\n", [3]),
        ("agents:\n  - role: 甲\n    goal: x\n", [2]),
    ],
)
def test_the_places_of_agents_are_found(text, lines):
    items = read(text)
    assert [item.line for item in items] == lines
    assert {item.name for item in items} == {"甲"}


def test_a_colon_in_a_value_is_read_leniently_with_a_warning():
    first, second = read("a:\n  role: 甲\n  goal: Phase 1: 需求\nb:\n  role: 乙\n  goal: y: z: w\n")
    assert "Phase 1: 需求" in first.system_prompt
    assert first.warnings[-1].startswith("a.yaml:3: ")
    assert (second.line, second.warnings[-1][:10]) == (4, "a.yaml:6: ")


def test_a_mapping_that_is_no_agent_is_reported():
    agent, other = read("a:\n  role: 甲\n  goal: x\nb:\n  role: 乙\nn: 1\n")
    assert isinstance(agent, ImportedAgent)
    assert isinstance(other, SkippedItem)
    assert other.line == 4


@pytest.mark.parametrize("text", ["", "a: 1", "- x", "on: push\njobs: {}\n", "text", "role: 甲"])
def test_other_yaml_is_skipped(text):
    (item,) = read(text)
    assert isinstance(item, SkippedItem)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: &x\n  role: 甲\n  goal: y\nb: *x\n", 1),
        ("a:\n  role: !!python/name:os.system x\n  goal: y", 2),
        ("a: {<<: {role: x}, goal: y}", 1),
        ("[" * 20_000, 1),
        ("x\n\ny: [\n", 3),
    ],
)
def test_hostile_and_broken_yaml_is_refused(text, line):
    with pytest.raises(ApplicationError) as caught:
        read(text)
    assert caught.value.extra["line"] == line


def test_a_blank_role_fails():
    (item,) = read("a:\n  role: ' '\n  goal: x\n")
    assert isinstance(item, FailedItem)


NODE = "    - data:\n        title: {title}\n        type: llm\n        prompt_template:\n"
SYSTEM = "        - role: {role}\n          text: {text}\n"
APP = (
    "kind: app\napp:\n  name: 思考助手\n  description: 想\n"
    "workflow:\n  graph:\n    nodes:\n    - data: {type: start}\n"
)


def test_the_prompt_of_a_dify_node_is_the_role():
    text = APP + NODE.format(title="LLM") + SYSTEM.format(role="system", text="'你是{{#sys.query#}}专家'")
    (item,) = read(text + SYSTEM.format(role="user", text="question"))
    assert (item.name, item.description, item.line) == ("思考助手", "想", 2)
    assert item.system_prompt == "你是{{#sys.query#}}专家"
    assert "variables" in item.warnings[0]


def test_the_prompt_of_a_simple_dify_app_is_the_role():
    (item,) = read("app:\n  name: 2024\nmodel_config:\n  pre_prompt: |\n    You answer.\n    Briefly.\n")
    assert (item.name, item.system_prompt, item.warnings) == ("2024", "You answer.\nBriefly.", ())


def test_several_prompts_of_one_app_are_joined_under_their_titles():
    nodes = "".join(
        NODE.format(title=title) + SYSTEM.format(role="system", text=text)
        for title, text in (("翻译", "译文"), ("Check", "Check it"), ("Again", "Check it"))
    )
    (item,) = read(APP + nodes)
    assert item.system_prompt == "## 翻译\n\n译文\n\n## Check\n\nCheck it"
    assert "2 system prompts" in item.warnings[0]


@pytest.mark.parametrize("text", [APP, APP + NODE.format(title="L") + SYSTEM.format(role="user", text="x")])
def test_a_dify_app_without_a_system_prompt_is_skipped(text):
    (item,) = read(text)
    assert isinstance(item, SkippedItem)
    assert "no system prompt" in item.reason


def test_a_broken_line_of_a_dify_file_is_warned_about():
    (item,) = read("app:\n  name: 甲\n  description: 步骤 1: 想\nmodel_config:\n  pre_prompt: 你是甲\n")
    assert item.description == "步骤 1: 想"
    assert item.warnings[0].startswith("a.yaml:3: ")
