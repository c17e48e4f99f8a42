"""A path becomes items: everything found is imported, skipped or failed, and nothing vanishes."""

from collections import Counter

import pytest

from agents.importers.items import FailedItem, ImportedAgent, SkippedItem
from agents.importers.reader import read_agents
from common.errors import ApplicationError


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "root"
    files = {
        "README.md": b"# Collection\n",
        "AGENTS.md": b"CLAUDE.md",
        "a/运维 助手.md": "---\nname: 运维\n---\n你是运维".encode(),
        "a/bad.md": "第一行\n第二行\n".encode() + "中文".encode("gbk"),
        "a/zero.md": b"one\ntwo\0\n",
        "b/wide.MD": "text".encode("utf-16"),
        "b/crew.yml": b"x:\n  role: R\n  goal: G\n",
        "b/bomb.yaml": b"a: &a [x]\nb: [*a, *a]\n",
        "b/list.csv": "act,prompt\n甲,你是甲\n,x\n".encode(),
        "b/list.json": b'[\n{"act": 1,}]',
        "b/notes.txt": b"no agent",
        "b/.DS_Store": b"hidden",
        "b/cover.png": b"\0\xff",
    }
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    (root / "link.md").symlink_to(root / "a/运维 助手.md")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret.md").write_text("secret")
    (root / "linked").symlink_to(tmp_path / "outside")
    return root


def test_a_folder_gives_items_in_order_and_the_counts_add_up(folder):
    reading = read_agents(folder)
    assert [(type(item), item.source) for item in reading.items] == [
        (SkippedItem, "AGENTS.md:1"),
        (SkippedItem, "README.md:1"),
        (FailedItem, "a/bad.md:3"),
        (FailedItem, "a/zero.md:2"),
        (ImportedAgent, "a/运维 助手.md:1"),
        (FailedItem, "b/bomb.yaml:1"),
        (SkippedItem, "b/cover.png:1"),
        (ImportedAgent, "b/crew.yml:1"),
        (ImportedAgent, "b/list.csv:2"),
        (FailedItem, "b/list.csv:3"),
        (FailedItem, "b/list.json:2"),
        (SkippedItem, "b/notes.txt:1"),
        (FailedItem, "b/wide.MD:1"),
        (FailedItem, "link.md:1"),
        (FailedItem, "linked:1"),
    ]
    assert reading.found == len(reading.agents) + len(reading.skipped) + len(reading.failed)
    reasons = {item.file: item.reason for item in reading.failed}
    assert "symbolic links are not followed" in reasons["link.md"]
    assert "symbolic links are not followed" in reasons["linked"]
    assert "mixed encodings" in reasons["a/bad.md"]
    assert "UTF-16" in reasons["b/wide.MD"]
    assert "anchor" in reasons["b/bomb.yaml"]


def test_a_single_file_is_read_and_named_by_its_name(folder):
    (item,) = read_agents(folder / "a/运维 助手.md").items
    assert (item.source, item.name) == ("运维 助手.md:1", "运维")


@pytest.mark.parametrize(("name", "word"), [("link.md", "symbolic"), ("b/notes.txt", ".md")])
def test_a_single_file_that_cannot_be_read_fails(folder, name, word):
    (item,) = read_agents(folder / name).items
    assert isinstance(item, FailedItem)
    assert word in item.reason


def test_nothing_at_the_path_is_an_error(tmp_path):
    with pytest.raises(ApplicationError) as caught:
        read_agents(tmp_path / "没有")
    assert caught.value.code == "NOT_FOUND"


def test_an_empty_folder_has_nothing(tmp_path):
    assert read_agents(tmp_path).found == 0


@pytest.mark.parametrize(("name", "text"), [("a.csv", "act,prompt\n"), ("a.csv", ""), ("a.json", "[]")])
def test_a_file_without_any_agent_is_still_reported(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    (item,) = read_agents(tmp_path).items
    assert isinstance(item, SkippedItem)


def test_two_agents_of_one_name_are_both_handed_over(tmp_path):
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text("---\nname: Backend Architect\n---\nYou build.")
    assert [agent.name for agent in read_agents(tmp_path).agents] == ["Backend Architect"] * 2


@pytest.mark.shared_data
def test_every_real_collection_is_read_completely(shared_data):
    reading = read_agents(shared_data / "agents")
    per_file = Counter(agent.file for agent in reading.agents)
    assert per_file["f-prompts-2025-11.csv"] == 220
    assert per_file["plexpt-prompts-zh.json"] == 124
    assert per_file["crewai-screenplay-agents.yaml"] == 5
    assert per_file["crewai-stock-agents.yaml"] == 3
    assert len(per_file) == 15
    assert (reading.found, len(reading.agents)) == (363, 363)
    assert not any("\r" in agent.system_prompt for agent in reading.agents)
    warned = {agent.file for agent in reading.agents if agent.warnings}
    assert {"volt-gdpr-ccpa-compliance.md", "agency-zk-steward.md"} <= warned
    names = Counter(agent.name for agent in reading.agents)
    assert names["Backend Architect"] == 2
    assert names["Chess Player"] == 2


@pytest.mark.shared_data
def test_real_languages_are_guessed(shared_data):
    agents = read_agents(shared_data / "agents").agents
    chinese = {"plexpt-prompts-zh.json", "dify-思考助手.yml", "desirecore-agent.json"}
    assert all((agent.language == "zh") == (agent.file in chinese) for agent in agents)


@pytest.mark.shared_data
def test_a_real_pointer_is_skipped(shared_data):
    (item,) = read_agents(shared_data / "lessons/mao-AGENTS.md").items
    assert (item.source, item.reason) == ("mao-AGENTS.md:1", "pointer, nothing imported")


@pytest.mark.shared_data
@pytest.mark.parametrize("name", ["volt-powershell-ui-architect.md", "agency-zk-steward.md"])
def test_real_bodies_come_whole(shared_data, name):
    (agent,) = read_agents(shared_data / "agents" / name).agents
    text = (shared_data / "agents" / name).read_text(encoding="utf-8")
    assert agent.system_prompt == text.split("\n---\n", 1)[1].strip()
