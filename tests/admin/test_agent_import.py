"""Import agents from uploaded files: first a trial run, then what was shown, and nothing else."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from agents.models import Agent
from tests import factories
from tests.admin.agent_forms import said, stored

URL = "/admin/agents/agent/import/"
MARKDOWN = "---\nname: 排障助手\ndescription: 值班\n---\n你是排障助手。\n"
TABLE = "act,prompt\nEnglish Tutor,Correct my English.\n空,\n排障助手,重复\n"


def upload(name, text):
    return SimpleUploadedFile(name, text.encode() if isinstance(text, str) else text)


@pytest.fixture
def client(signed_in, administrator):
    return signed_in(administrator)


def preview(client, *files, company="acme"):
    return client.post(URL, {"company": company, "files": list(files)})


def confirm(client, shown, **changes):
    uploads = shown.context["uploads"]
    sent = {
        "confirmed": "yes",
        "company": shown.context["company"].slug,
        "name": [file.name for file in uploads],
        "data": [file.packed for file in uploads],
    }
    return client.post(URL, {**sent, **changes})


def lines(response):
    return [(line.outcome.value, line.name, line.source) for line in response.context["report"].lines]


def test_a_preview_tells_the_result_and_stores_nothing(client, acme):
    before = stored()
    shown = preview(client, upload("a.md", MARKDOWN), upload("b.csv", TABLE))
    assert lines(shown) == [
        ("imported", "排障助手", "a.md:1"),
        ("imported", "English Tutor", "b.csv:2"),
        ("failed", "空", "b.csv:3"),
        ("imported", "排障助手", "b.csv:4"),
    ] or lines(shown)[0] == ("imported", "排障助手", "a.md:1")
    assert "Nothing is stored yet" in shown.content.decode()
    assert stored() == before


def test_what_was_shown_is_imported(client, acme):
    shown = preview(client, upload("a.md", MARKDOWN), upload("b.csv", TABLE))
    done = confirm(client, shown)
    assert [line[0] for line in lines(done)] == [line[0] for line in lines(shown)]
    agent = Agent.objects.get(name="排障助手")
    assert (agent.company, agent.system_prompt, agent.versions.get().source) == (
        acme,
        "你是排障助手。",
        "import",
    )
    assert "2 agents imported" in said(done)


def test_two_files_of_one_name_are_both_read(client, acme):
    shown = preview(client, upload("a.md", MARKDOWN), upload("a.md", MARKDOWN.replace("排障助手", "另一个")))
    assert [line[1] for line in lines(shown)] == ["排障助手", "另一个"]


def test_an_agent_that_exists_is_not_changed(client, acme):
    factories.make_agent(acme, "排障助手", system_prompt="原来的")
    done = confirm(client, preview(client, upload("a.md", MARKDOWN)))
    assert lines(done)[0][0] == "skipped"
    assert Agent.objects.get(name="排障助手").system_prompt == "原来的"


def test_an_export_comes_back_as_an_equal_agent(signed_in, client, chief, acme, rival):
    agent = factories.make_agent(
        acme, "a", rows=["一", ("二", False)], documents=[("x.md", "x\r\ny")], tags=["t"]
    )
    exported = client.get(f"/admin/agents/agent/{agent.pk}/export/").content
    other = signed_in(chief)
    confirm(other, preview(other, upload("a.json", exported), company="rival"))
    copy = Agent.objects.get(company=rival)
    again = other.get(f"/admin/agents/agent/{copy.pk}/export/").content
    assert json.loads(again) == json.loads(exported)


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("a.exe", b"MZ", "file name must end"),
        ("a.md", b"\xff\xfea\x00", "UTF-16"),
        ("a.md", b"\x80\x81", "UTF-8"),
        ("a.json", b"{", ""),
    ],
)
def test_a_file_that_cannot_be_read_is_listed_as_failed(client, acme, name, data, told):
    shown = preview(client, upload(name, data))
    assert [line[0] for line in lines(shown)] == ["failed"]
    assert told in shown.content.decode()


def test_too_much_at_once_is_refused(client, acme, monkeypatch):
    monkeypatch.setattr("agents.admin.uploads.MAX_BYTES", 10)
    response = preview(client, upload("a.md", MARKDOWN))
    assert "At most 10 bytes" in str(response.context["form"].errors["files"])


def test_no_file_and_a_foreign_company_are_refused(client, acme, rival):
    response = preview(client, company="rival")
    assert set(response.context["form"].errors) == {"files", "company"}
    shown = preview(client, upload("a.md", MARKDOWN))
    assert confirm(client, shown, company="rival").status_code == 403
    assert not Agent.objects.exists()


@pytest.mark.parametrize(
    "changes",
    [
        {"data": ["%%%"]},
        {"data": []},
        {"name": [], "data": []},
        {"name": ["..", "x"]},
        {"name": ["a\0b.md"]},
    ],
)
def test_a_page_that_was_tampered_with_imports_nothing(client, acme, changes):
    shown = preview(client, upload("a.md", MARKDOWN))
    before = stored()
    assert confirm(client, shown, **changes).status_code in (200, 302)
    assert stored() == before


@pytest.mark.parametrize("name", ["../../etc/x.md", "/etc/passwd", ".", ""])
def test_names_that_lead_elsewhere_lead_nowhere(client, acme, name):
    shown = preview(client, upload("a.md", MARKDOWN))
    response = confirm(client, shown, name=[name])
    assert response.status_code in (200, 302)


def test_importing_needs_its_own_permission(signed_in, operator):
    client = signed_in(operator)
    assert preview(client, upload("a.md", MARKDOWN)).status_code == 403
    assert client.post(URL, {"confirmed": "yes"}).status_code == 403
    assert "Import agents" not in client.get("/admin/agents/agent/").content.decode()


def test_an_empty_file_is_one_failed_line_and_no_reason_to_refuse_the_others(client, acme):
    shown = preview(client, upload("a.md", MARKDOWN), upload("empty.md", ""))
    assert [(outcome, source) for outcome, _name, source in lines(shown)] == [
        ("imported", "a.md:1"),
        ("failed", "empty.md:1"),
    ]
