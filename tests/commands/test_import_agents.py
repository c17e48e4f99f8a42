"""`import_agents`: every item counts, nothing that exists changes, what fails leaves nothing behind."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from agents.choices import Source
from agents.importers.items import ImportedAgent, ImportedDocument
from agents.models import Agent, AgentVersion, Document
from agents.services.importing import Outcome, import_agents
from common.receipts.models import Receipt
from experiences.models import Experience
from tests.commands.calls import lines, run, written
from tests.factories import an_edit, make_agent

pytestmark = pytest.mark.django_db

FRONT = "---\nname: {name}\ndescription: {description}\n---\n{role}\n"


def markdown(name, role="你是运维助手。", description="x"):
    return FRONT.format(name=name, role=role, description=description)


def own_export(name, contents=(), documents=()):
    return json.dumps(
        {
            "format": "fieldbook.agent",
            "version": 1,
            "agent": {"name": name, "system_prompt": "角色", "language": "zh"},
            "experiences": [{"content": content} for content in contents],
            "documents": [{"path": path, "text": text} for path, text in documents],
        },
        ensure_ascii=False,
    )


@pytest.fixture
def folder(tmp_path):
    """One of each outcome, in Chinese and English."""
    return written(
        tmp_path / "agents",
        {
            "运维.md": markdown("运维助手"),
            "b.md": markdown("Release Pilot", "You ship releases.", "Phase 1: plan"),
            "b-again.md": markdown("release  PILOT"),
            "AGENTS.md": "@CLAUDE.md\n",
            "broken.md": b"ok\nM\xfcller",
            "utf16.csv": "act,prompt\na,b\n".encode("utf-16"),
            "long.json": own_export("写手", ["字" * 301]),
            "kept.json": own_export("Existing"),
            "notes.txt": "no agent",
        },
    )


def test_every_item_is_told_with_file_line_and_reason(folder, acme):
    existing = make_agent(acme, "existing", rows=["stays"])
    printed = lines("import_agents", folder, "--company", "acme")
    assert printed[-1] == "found 9 imported 2 skipped 4 failed 3"
    told = {line.split()[1]: line for line in printed[:-1] if not line.startswith("warning")}
    assert {place: line.split()[0] for place, line in told.items()} == {
        "AGENTS.md:1": "skipped",
        "b-again.md:1": "imported",
        "b.md:1": "skipped",
        "broken.md:2": "failed",
        "kept.json:1": "skipped",
        "long.json:1": "failed",
        "notes.txt:1": "skipped",
        "utf16.csv:1": "failed",
        "运维.md:1": "imported",
    }
    assert "b-again.md:1" in told["b.md:1"]
    assert "301" in told["long.json:1"] and "300" in told["long.json:1"] and "写手" in told["long.json:1"]
    assert any(line.startswith("warning") and "b.md:3" in line for line in printed)
    existing.refresh_from_db()
    assert existing.version == 1


def test_an_imported_agent_has_role_rows_documents_a_version_and_a_receipt(acme, tmp_path):
    content = own_export("Agent", ["先看日志", "second"], [("principles.md", "# A\r\n"), ("memory/x.md", "")])
    assert run("import_agents", written(tmp_path, {"a.json": content}) / "a.json", "--company", "acme")
    agent = Agent.objects.get(name="Agent")
    assert list(agent.experiences.values_list("content", flat=True)) == ["先看日志", "second"]
    assert set(agent.documents.values_list("path", flat=True)) == {"principles.md", "memory/x.md"}
    version = AgentVersion.objects.get(agent=agent)
    assert (version.number, version.source, version.author) == (1, "import", "command:import_agents")
    assert "a.json:1" in version.message
    assert Receipt.objects.get(agent=agent).trigger == "agent_created"


def test_a_trial_run_prints_the_same_and_stores_nothing(folder, acme):
    tables = (Agent, AgentVersion, Document, Experience, Receipt)
    tried = run("import_agents", folder, "--company", "acme", "--dry-run")
    assert [table.objects.count() for table in tables] == [0] * len(tables)
    assert tried == run("import_agents", folder, "--company", "acme")


@pytest.mark.parametrize(("options", "notice"), [(["--dry-run"], "Dry run: nothing was stored."), ([], "")])
def test_a_trial_run_says_so_beside_the_report(folder, acme, options, notice):
    out, err = StringIO(), StringIO()
    call_command("import_agents", str(folder), "--company", "acme", *options, stdout=out, stderr=err)
    assert err.getvalue().strip() == notice


def test_running_again_skips_everything(folder, acme):
    run("import_agents", folder, "--company", "acme")
    before = dict(Agent.objects.values_list("name", "version"))
    assert lines("import_agents", folder, "--company", "acme")[-1] == "found 9 imported 0 skipped 6 failed 3"
    assert dict(Agent.objects.values_list("name", "version")) == before


def test_the_same_name_is_free_in_another_company(folder, acme, rival):
    make_agent(rival, "运维助手")
    assert "imported 3" in lines("import_agents", folder, "--company", "acme")[-1]


@pytest.mark.parametrize(
    ("documents", "word"),
    [
        ([("../x.md", "a")], "../x.md"),
        ([("memory/a.md", "1"), ("MEMORY//a.md", "2")], "MEMORY//a.md"),
        ([("agent.json", "no json")], "agent.json"),
    ],
)
def test_a_faulty_document_fails_its_agent_and_leaves_nothing(acme, tmp_path, documents, word):
    files = {"a.json": own_export("坏", ["x"], documents), "b.json": own_export("Good")}
    printed = lines("import_agents", written(tmp_path, files), "--company", "acme")
    assert printed[-1] == "found 2 imported 1 skipped 0 failed 1"
    assert word in next(line for line in printed if line.startswith("failed"))
    assert list(Agent.objects.values_list("name", flat=True)) == ["Good"]
    assert not Experience.objects.exists()


def test_the_name_of_a_failed_agent_stays_free_for_the_next_one(acme, tmp_path):
    files = {"a.json": own_export("Twin", [], [("../x", "")]), "b.json": own_export("Twin")}
    printed = lines("import_agents", written(tmp_path, files), "--company", "acme")
    assert printed[-1] == "found 2 imported 1 skipped 0 failed 1"


def test_a_name_cannot_steer_the_terminal(acme, tmp_path):
    name = "bad\u202egnp\u001b]0;x\u0007"
    files = {"a.json": own_export(name), "b.md": markdown("fine\rfailed")}
    printed = run("import_agents", written(tmp_path, files), "--company", "acme")
    assert not {"\u001b", "\u0007", "\u202e", "\r"} & set(printed)


@pytest.mark.parametrize(
    ("path", "company", "word"),
    [("missing", "acme", "missing"), (".", "nobody", "nobody")],
)
def test_a_missing_path_or_company_is_named_and_nothing_happens(acme, tmp_path, path, company, word):
    with pytest.raises(CommandError, match=word):
        call_command("import_agents", str(tmp_path / path), company=company)


def test_unreadable_files_alone_are_no_error(acme, tmp_path):
    path = written(tmp_path, {"x.md": b"\x00"}) / "x.md"
    assert lines("import_agents", path, "--company", "acme")[-1] == "found 1 imported 0 skipped 0 failed 1"


def test_an_empty_folder_finds_nothing(acme, tmp_path):
    assert run("import_agents", tmp_path, "--company", "acme") == "found 0 imported 0 skipped 0 failed 0"


def test_a_symbolic_link_is_listed_as_failed(acme, tmp_path):
    written(tmp_path, {"real.md": markdown("Real")})
    (tmp_path / "link.md").symlink_to(tmp_path / "real.md")
    printed = lines("import_agents", tmp_path, "--company", "acme")
    assert printed[-1] == "found 2 imported 1 skipped 0 failed 1"


def test_a_name_taken_in_the_meantime_is_skipped_like_any_other(acme):
    """The set of names is read once; the last word has the service that locks them."""
    item = ImportedAgent("a.md", 1, name="Taken", description="", system_prompt="x", language="en")

    def items():
        make_agent(acme, "taken")
        yield item

    report = import_agents(items=items(), company=acme, edit=an_edit(source=Source.IMPORT), dry_run=False)
    assert [line.outcome for line in report.lines] == [Outcome.SKIPPED]


def test_documents_of_other_paths_than_the_body_belong_to_the_company(acme):
    item = ImportedAgent(
        "a.json",
        1,
        name="A",
        description="",
        system_prompt="x",
        language="en",
        documents=(ImportedDocument("users/li/profile.md", "喜欢表格"),),
    )
    import_agents(items=[item], company=acme, edit=an_edit(), dry_run=False)
    assert Document.objects.get().company == acme


@pytest.mark.shared_data
def test_real_collections_import_with_readable_reasons(acme, shared_data):
    printed = lines("import_agents", shared_data / "agents", "--company", "acme")
    words = printed[-1].split()
    found, imported, skipped, failed = (int(word) for word in words[1::2])
    assert found == imported + skipped + failed
    assert imported > 340
    assert all(line.split("  ", 1)[1].strip() for line in printed[:-1])
    assert imported == Agent.objects.owned_by(acme).count()
    tried = lines("import_agents", shared_data / "agents", "--company", "acme", "--dry-run")
    assert tried[-1] == f"found {found} imported 0 skipped {skipped + imported} failed {failed}"
