"""`export_agents`: what it writes, `import_agents` reads back to an equal agent."""

import json

import pytest
from django.core.management import CommandError

from agents.models import Agent
from agents.rules.snapshots import digest
from agents.selectors import snapshot
from agents.services.agents import delete_agent
from agents.services.documents import put_document
from agents.services.exporting import export_agent
from tests.commands.calls import lines, run
from tests.factories import ApiClient, an_edit, make_agent, make_company

pytestmark = pytest.mark.django_db


@pytest.fixture
def rich(acme):
    """An agent with everything an export holds, and a document of a user, which it does not hold."""
    agent = make_agent(
        acme,
        "写手 <Writer> =1+1",
        system_prompt="第一行\n\n```\n{{name}} \u202e\n```",
        description="多行\n说明",
        language="en",
        tags=["a", "标签"],
        skill_names=["contract-review"],
        enabled=False,
        is_default=True,
        inject_session_recaps=True,
        introspection_enabled=True,
        rows=[
            ("先看日志\n再看指标", True),
            ('off "quoted"', False),
            ("=1+1", True),
            ("😀" * 300, False),
        ],
        documents=[
            ("principles.md", "# 原则\r\n\r\n## 绝不做\r\n- x"),
            ("agent.json", '{"b": 1, "a": [1.5, null]}'),
            ("memory/empty.md", ""),
            ("skills/contract-review/SKILL.md", "---\nname: x\n---\nbody\n"),
        ],
    )
    put_document(
        agent=agent, company=acme, path="users/li/profile.md", text="x", edit=an_edit(), request="test"
    )
    return agent


def comparable(agent):
    """The digest of a snapshot without what an import does not bring: ids, numbers, default flag, owner."""
    state = snapshot(Agent.objects.get(pk=agent.pk))
    state["rows"] = [{**row, "id": None} for row in state["rows"]]
    state["documents"] = {path: document["sha256"] for path, document in state["documents"].items()}
    state["settings"] = {**state["settings"], "is_default": None, "owner": None}
    return digest(state)


@pytest.mark.parametrize("how", ["stdout", "file", "folder"])
@pytest.mark.parametrize("one", [True, False])
def test_an_import_of_an_export_gives_an_equal_agent(rich, tmp_path, how, one):
    plain = make_agent(rich.company, "Plain")
    make_company("other")
    chosen = ["--agent", rich.pk] if one else ["--company", "acme"]
    source = tmp_path / "export.json"
    if how == "stdout":
        source.write_text(run("export_agents", *chosen), encoding="utf-8")
    elif how == "file":
        assert run("export_agents", *chosen, "--output", source) == f"exported {1 if one else 2}"
    else:
        source = tmp_path / "export"
        assert run("export_agents", *chosen, source) == f"exported {1 if one else 2}"
    last = lines("import_agents", source, "--company", "other")[-1]
    assert last == f"found {2 - one} imported {2 - one} skipped 0 failed 0"
    copies = Agent.objects.filter(company__slug="other")
    assert comparable(copies.get(name=rich.name)) == comparable(rich)
    assert one or comparable(copies.get(name="Plain")) == comparable(plain)
    assert {agent.is_default for agent in copies} == {False}


def test_a_second_export_of_the_imported_agent_has_the_same_bytes(rich, tmp_path):
    make_company("other")
    run("export_agents", tmp_path / "first", "--agent", rich.pk)
    run("import_agents", tmp_path / "first", "--company", "other")
    run("export_agents", tmp_path / "second", "--company", "other")
    (first,), (second,) = [list((tmp_path / name).rglob("*.json")) for name in ("first", "second")]
    assert first.read_bytes() == second.read_bytes()


def test_the_command_and_the_api_export_the_same(rich, read_key):
    answer = ApiClient(read_key).get(f"agents/{rich.pk}/export")
    assert answer.status_code == 200
    assert answer.json() == json.loads(run("export_agents", "--agent", rich.pk)) == export_agent(rich)


def test_a_folder_has_a_folder_for_each_company(acme, rival, tmp_path):
    one, two = make_agent(acme, "../../etc/运维 助手"), make_agent(rival, "...")
    assert run("export_agents", tmp_path / "deep" / "out") == "exported 2"
    files = {str(path.relative_to(tmp_path / "deep" / "out")) for path in tmp_path.rglob("*.json")}
    assert files == {f"acme/{one.pk}-etc-运维-助手.json", f"rival/{two.pk}-agent.json"}


def test_exporting_again_replaces_the_files(acme, tmp_path):
    make_agent(acme, "A")
    run("export_agents", tmp_path)
    (path,) = tmp_path.rglob("*.json")
    path.write_text("old")
    run("export_agents", tmp_path)
    assert json.loads(path.read_text())["agent"]["name"] == "A"


def test_a_deleted_agent_is_not_exported(acme):
    agent = make_agent(acme, "A")
    delete_agent(agent_id=agent.pk, edit=an_edit())
    assert json.loads(run("export_agents"))["agents"] == []


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--agent", "999999"], "999999"),
        (["--company", "nobody"], "nobody"),
        (["--output", "/nonexistent/x.json"], "/nonexistent/x.json"),
        (["/dev/null/x"], "/dev/null/x"),
    ],
)
def test_what_cannot_be_exported_is_named(acme, arguments, word):
    make_agent(acme, "A")
    with pytest.raises(CommandError, match=word):
        run("export_agents", *arguments)


def test_an_agent_of_another_company_is_not_found(acme, rival):
    agent = make_agent(rival, "theirs")
    with pytest.raises(CommandError, match=f"{agent.pk} of acme"):
        run("export_agents", "--agent", agent.pk, "--company", "acme")


def test_a_folder_and_a_file_at_once_are_refused(acme, tmp_path):
    with pytest.raises(CommandError, match="not allowed with"):
        run("export_agents", tmp_path, "--output", tmp_path / "x")
