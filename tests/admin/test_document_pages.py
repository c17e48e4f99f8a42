"""The document page: the text to the letter, a version for each change, nothing lost to a stale save."""

import pytest

from agents.models import Document, DocumentVersion, ProtectedAccess
from agents.services.documents import put_document
from common.receipts.models import Receipt
from tests import factories
from tests.admin.agent_forms import document_page, errors_of, form_of, said, save, send, stored

FORM = "document_form"
ADD = "/admin/agents/document/add/"
LIST = "/admin/agents/document/"


@pytest.fixture
def agent(acme):
    return factories.make_agent(acme, "运维助手", documents=[("memory/notes.md", "一\r\n二\r\n")])


@pytest.fixture
def document(agent):
    return agent.documents.get()


@pytest.fixture
def editor(signed_in, operator):
    return signed_in(operator)


def text_of(document):
    document.refresh_from_db()
    return DocumentVersion.objects.get(document=document, number=document.current_version).text


@pytest.mark.parametrize(
    "text",
    [
        "一\n二\n",
        "一\r\n二\r\n",
        "一\r二\r",
        "no end",
        "",
        "\n\nstarts empty",
        "mixed\r\nends\nhere\rdone",
        "same\r\nsame\nsame\r\n",
        "\ttabs  and trailing  \r\n",
        "ends\x0b\x0cand\u2028lines\u0085x\n",
        "</textarea>&amp;<b>\n",
    ],
)
def test_an_untouched_text_keeps_every_character(editor, acme, text):
    agent = factories.make_agent(acme, documents=[("memory/x.md", text)])
    document = agent.documents.get()
    assert save(editor, document_page(document), FORM).status_code == 302
    assert text_of(document) == text
    agent.refresh_from_db()
    assert (document.current_version, agent.version) == (1, 1)


@pytest.mark.parametrize(
    ("old", "sent", "new"),
    [
        ("一\n二\n", "一\r\n二改\r\n三\r\n", "一\n二改\n三\n"),
        ("一\r\n二\r\n", "一\r\n二改\r\n三\r\n", "一\r\n二改\r\n三\r\n"),
        ("一\r\n二", "一\r\n二\r\n", "一\r\n二\r\n"),
        ("一\n", "", ""),
        ("", "neu\r\n", "neu\n"),
    ],
)
def test_a_changed_text_keeps_the_line_ends_of_the_old_one(editor, acme, old, sent, new):
    document = factories.make_agent(acme, documents=[("memory/x.md", old)]).documents.get()
    save(editor, document_page(document), FORM, text=sent, note="为什么")
    assert text_of(document) == new
    version = DocumentVersion.objects.get(document=document, number=2)
    assert (version.author, version.source, version.note) == ("operator", "admin", "为什么")


def test_a_save_raises_the_agents_version_and_leaves_a_receipt(editor, agent, document):
    save(editor, document_page(document), FORM, text="neu")
    agent.refresh_from_db()
    assert agent.version == 2
    receipt = Receipt.objects.get(agent=agent, trigger="agent_changed")
    assert [line.target for line in receipt.lines.all()] == ["memory/notes.md"]


def test_a_stale_save_is_refused_and_shows_the_difference(editor, document, writer, agent):
    opened = form_of(editor.get(document_page(document)), FORM)
    writer.put(
        f"agents/{agent.pk}/documents", {"path": "memory/notes.md", "text": "theirs\n", "base_version": 1}
    )
    before = stored()
    response = send(editor, document_page(document), opened | {"text": "mine"})
    assert "VERSION_MISMATCH" in errors_of(response)
    assert form_of(response, FORM)["text"] == "mine"
    assert "theirs" in response.content.decode()
    assert stored() == before
    again = form_of(response, FORM) | {"seen_version": "2"}
    assert send(editor, document_page(document), again).status_code == 302
    assert text_of(document) == "mine"


@pytest.mark.parametrize("version", [None, "", "x", "0", "9"])
def test_a_form_that_does_not_say_its_version_is_refused(editor, document, version):
    before = stored()
    assert save(editor, document_page(document), FORM, base_version=version, text="neu").status_code == 200
    assert stored() == before


@pytest.mark.parametrize(("text", "told"), [("x" * 200_001, "remove 1"), ("a\0b", "Null characters")])
def test_a_bad_text_is_refused(editor, document, text, told):
    before = stored()
    assert told in errors_of(save(editor, document_page(document), FORM, text=text))
    assert stored() == before


def new_document(client, agent, **fields):
    return save(client, ADD, FORM, agent=agent.pk, **fields)


def test_a_new_document_is_made_under_its_clean_path(editor, agent):
    assert new_document(editor, agent, path="skills//deploy/./SKILL.md", text="x\r\ny").status_code == 302
    document = Document.objects.get(path="skills/deploy/SKILL.md")
    assert (document.kind, text_of(document), document.company) == ("skill", "x\ny", agent.company)


def test_an_empty_document_is_legal(editor, agent):
    assert new_document(editor, agent, path="memory/empty.md", text="").status_code == 302
    assert text_of(Document.objects.get(path="memory/empty.md")) == ""


@pytest.mark.parametrize("path", ["memory/notes.md", "MEMORY//Notes.md"])
def test_a_path_that_exists_is_not_overwritten(editor, agent, document, path):
    before = stored()
    response = new_document(editor, agent, path=path, text="neu")
    assert "VERSION_MISMATCH" in errors_of(response)
    assert stored() == before


@pytest.mark.parametrize("path", ["../other/persona.md", "/etc/passwd", "C:/x", "a%2e%2e/x", "users/../../x"])
def test_a_path_that_leads_out_is_refused_and_logged(editor, agent, path):
    response = new_document(editor, agent, path=path, text="x")
    assert "PATH_INVALID" in errors_of(response)
    assert form_of(response, FORM)["text"] == "x"
    access = ProtectedAccess.objects.get()
    assert (access.verdict, access.request, access.actor_name) == ("blocked", "admin", "operator")
    assert not Document.objects.exclude(path="memory/notes.md").exists()


def test_agent_json_must_be_an_object(editor, agent):
    assert "must be one JSON object" in errors_of(new_document(editor, agent, path="agent.json", text="[1]"))


def test_a_users_document_of_a_shared_agent_belongs_to_the_chosen_company(editor, acme, global_company):
    shared = factories.make_agent(global_company, "shared")
    before = stored()
    assert "COMPANY_FORBIDDEN" in errors_of(new_document(editor, shared, path="memory/x.md", text="x"))
    assert "COMPANY_FORBIDDEN" in errors_of(
        new_document(editor, shared, path="users/u1/profile.md", text="x")
    )
    assert stored() == before
    response = new_document(editor, shared, path="users/u1/profile.md", text="x", company=acme.pk)
    assert response.status_code == 302
    document = Document.objects.get(agent=shared)
    assert (document.company, document.is_body) == (acme, False)
    shared.refresh_from_db()
    assert shared.version == 1


def test_a_users_document_never_hangs_on_another_companys_agent(signed_in, chief, acme, rival):
    foreign = factories.make_agent(rival)
    response = new_document(signed_in(chief), foreign, path="users/u1/profile.md", text="x", company=acme.pk)
    assert "COMPANY_FORBIDDEN" in errors_of(response)


def test_a_company_sees_only_its_own_users_documents(
    signed_in, operator, stranger, acme, rival, global_company
):
    shared = factories.make_agent(global_company, "shared", documents=[("memory/x.md", "x")])
    for company in (acme, rival):
        put_document(
            agent=shared,
            company=company,
            path="users/u1/profile.md",
            text=company.slug,
            edit=factories.an_edit(),
            request="test",
        )
    for person, company in ((operator, acme), (stranger, rival)):
        client = signed_in(person)
        listed = client.get(LIST).context["cl"].result_list
        assert sorted((row.path, row.company.slug) for row in listed) == [
            ("memory/x.md", "_global"),
            ("users/u1/profile.md", company.slug),
        ]
        page = client.get(f"/admin/agents/agent/{shared.pk}/change/").content.decode()
        tab = page.split('id="documents-group"')[1].split("</section>")[0]
        assert tab.count("users/u1/profile.md") == 1
    foreign = Document.objects.get(company=rival, is_body=False)
    assert signed_in(operator).get(document_page(foreign)).status_code == 404


def test_the_history_compares_and_restores(editor, document):
    save(editor, document_page(document), FORM, text="一\r\n三\r\n", note="<b>why</b>")
    history = document_page(document).replace("change/", "history/")
    page = editor.get(history).content.decode()
    assert "&lt;b&gt;why&lt;/b&gt;" in page
    compared = editor.get(f"{history}compare/?from=1&to=2").context["comparison"].role
    assert [(row.kind, row.old_no, row.new_no) for row in compared] == [("equal", 1, 1), ("replace", 2, 2)]
    assert "一" in editor.get(f"{history}1/").content.decode()
    before = stored()
    asked = editor.get(f"{history}1/restore/")
    assert asked.status_code == 200
    assert stored() == before
    response = editor.post(f"{history}1/restore/", {"confirmed": "yes", "base_version": "2"})
    assert "Version 1 is back" in said(response)
    assert text_of(document) == "一\r\n二\r\n"
    assert DocumentVersion.objects.get(document=document, number=3).source == "restore"


@pytest.mark.parametrize("version", ["1", "", "x"])
def test_a_stale_restore_changes_nothing(editor, document, version):
    save(editor, document_page(document), FORM, text="neu")
    url = document_page(document).replace("change/", "history/1/restore/")
    before = stored()
    editor.post(url, {"confirmed": "yes", "base_version": version})
    assert stored() == before


def test_a_document_cannot_be_deleted_here(signed_in, chief, document):
    client = signed_in(chief)
    assert (
        client.post(document_page(document).replace("change", "delete"), {"post": "yes"}).status_code == 403
    )
    data = {"action": "delete_selected", "_selected_action": document.pk, "post": "yes"}
    client.post(LIST, data)
    assert Document.objects.filter(pk=document.pk, deleted_at=None).exists()


def test_who_may_only_look_reads_the_text_with_hidden_characters_shown(signed_in, viewer, acme):
    agent = factories.make_agent(acme, documents=[("memory/x.md", "a\u202eb")])
    page = signed_in(viewer).get(document_page(agent.documents.get())).content.decode()
    assert '<span class="fieldbook-hidden">[U+202E]</span>' in page
    assert "<textarea" not in page


def test_the_list_asks_the_database_as_often_for_many_documents_as_for_one(
    signed_in, viewer, acme, count_queries
):
    client = signed_in(viewer)
    asked = []
    for number in (1, 10, 40):
        factories.make_agent(acme, documents=[(f"memory/{index}.md", "x") for index in range(number)])
        asked.append(count_queries(lambda: client.get(LIST)))
    assert asked[0] == asked[1] == asked[2] <= 12
