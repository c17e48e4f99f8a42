"""Experience rows as files: an import is taken whole or not at all, after it was shown."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from agents.models import AgentVersion
from experiences.models import Experience
from tests import factories
from tests.admin.agent_forms import said, stored

URL = "/admin/experiences/experience/import/"
TABLE = 'content,enabled,sort_order\n第二,true,1\n第一,false,0\n"多行\n内容",,\n'
FAULTY = f"content,enabled\ngood,\n{'字' * 301},\n\nx,perhaps\n"


@pytest.fixture
def agent(acme):
    return factories.make_agent(acme, "运维助手", rows=["旧一", ("旧二", False)])


@pytest.fixture
def editor(signed_in, operator):
    return signed_in(operator)


def preview(client, agent, text, name="rows.csv", mode="append"):
    data = text if isinstance(text, bytes) else text.encode()
    return client.post(URL, {"agent": agent.pk, "file": SimpleUploadedFile(name, data), "mode": mode})


def confirm(client, shown, **changes):
    context = shown.context
    sent = {
        "confirmed": "yes",
        "agent": context["agent"].pk,
        "base_version": context["agent"].version,
        "mode": context["mode"],
        "name": context["upload"].name,
        "data": context["upload"].packed,
    }
    return client.post(URL, {**sent, **changes})


def rows_of(agent):
    return list(Experience.objects.of_agent(agent.pk).values_list("content", "enabled"))


def test_a_preview_shows_the_rows_in_their_order_and_stores_nothing(editor, agent):
    before = stored()
    shown = preview(editor, agent, TABLE)
    assert [(line, str(text), on) for line, text, on in shown.context["rows"]] == [
        (3, "第一", False),
        (2, "第二", True),
        (4, "多行\n内容", True),
    ]
    assert stored() == before


def test_rows_are_added_at_the_end_as_one_version(editor, agent):
    confirm(editor, preview(editor, agent, TABLE))
    assert rows_of(agent) == [
        ("旧一", True),
        ("旧二", False),
        ("第一", False),
        ("第二", True),
        ("多行\n内容", True),
    ]
    version = AgentVersion.objects.get(agent=agent, number=2)
    assert (version.source, version.message) == ("import", "Import of rows.csv")


def test_rows_can_be_replaced(editor, agent):
    shown = preview(editor, agent, "- 新一\n- [ ] 新二\n", name="rows.md", mode="replace")
    assert "The 2 rows of the agent are deleted" in shown.content.decode()
    confirm(editor, shown)
    assert rows_of(agent) == [("新一", True), ("新二", False)]


def test_a_file_with_faults_is_refused_whole_with_their_lines(editor, agent):
    shown = preview(editor, agent, FAULTY)
    assert [fault.line for fault in shown.context["reading"].faults] == [3, 5]
    page = shown.content.decode()
    assert "remove 1" in page
    assert 'name="confirmed"' not in page
    before = stored()
    assert "nothing was imported" in said(confirm(editor, shown))
    assert stored() == before


@pytest.mark.parametrize("text", ["content\n", "\n\n", "wrong,columns\na,b\n"])
def test_a_file_without_rows_deletes_nothing(editor, agent, text):
    before = stored()
    confirm(editor, preview(editor, agent, text, mode="replace"))
    assert stored() == before


def test_a_change_between_preview_and_import_is_noticed(editor, agent, writer):
    shown = preview(editor, agent, TABLE)
    writer.post(f"agents/{agent.pk}/experiences", {"content": "theirs"})
    before = stored()
    assert "in the meantime" in said(confirm(editor, shown))
    assert stored() == before


@pytest.mark.parametrize(
    "changes",
    [{"agent": "x"}, {"base_version": ""}, {"data": "%"}, {"name": "", "data": ""}, {"agent": "9" * 30}],
)
def test_a_page_that_was_tampered_with_imports_nothing(editor, agent, changes):
    shown = preview(editor, agent, TABLE)
    before = stored()
    assert confirm(editor, shown, **changes).status_code in (302, 404)
    assert stored() == before


def test_rows_go_into_no_agent_of_others(editor, signed_in, chief, rival, global_company, agent):
    for company in (rival, global_company):
        foreign = factories.make_agent(company)
        assert "agent" in preview(editor, foreign, TABLE).context["form"].errors
        shown = preview(editor, agent, TABLE)
        assert confirm(editor, shown, agent=foreign.pk).status_code == 404


def test_a_binary_file_is_refused(editor, agent):
    response = preview(editor, agent, b"\x80\x81")
    assert "UTF-8" in said(response)


def test_an_export_comes_back_equal(editor, acme, agent):
    text = '=HYPERLINK("http://x","y")'
    source = factories.make_agent(acme, rows=[text, "-2+3", ("多行\n内容", False), "'quoted", "@SUM(1+1)"])
    for kind in ("csv", "md"):
        target = factories.make_agent(acme)
        exported = editor.get(f"/admin/experiences/experience/export/{source.pk}.{kind}")
        assert "attachment" in exported["Content-Disposition"]
        confirm(editor, preview(editor, target, exported.content, name=f"rows.{kind}"))
        assert rows_of(target) == rows_of(source)


def test_no_cell_of_an_export_runs(editor, acme):
    source = factories.make_agent(acme, rows=["=1+1", "@x"])
    exported = editor.get(f"/admin/experiences/experience/export/{source.pk}.csv").content.decode()
    assert "'=1+1" in exported
    assert "'@x" in exported


def test_chosen_rows_of_several_agents_name_their_agent(editor, acme, agent):
    other = factories.make_agent(acme, "=other", rows=["x"])
    chosen = [row.pk for row in Experience.objects.all()]
    data = {"action": "export_chosen", "_selected_action": chosen}
    exported = editor.post("/admin/experiences/experience/", data).content.decode()
    assert exported.splitlines()[0] == "\ufeffagent,content,enabled,sort_order"
    assert "'=other,x,true,0" in exported
    assert other.version == 1
