"""Protected parts by hand: named first, confirmed by typing, by whoever has a say; every check is logged."""

import pytest

from agents.admin import documents as document_admin
from agents.models import DocumentVersion, ProtectedAccess, ProtectedPath
from tests import factories
from tests.admin.agent_forms import document_page, errors_of, form_of, said, save, send, stored

FORM = "document_form"
PERSONA = "# L0 — 核心身份\n冷静\n\n# L01 附录\n旧\n"
PRINCIPLES = "## 绝不做\n- 不删库\n\n## 偏好\n- 先读日志\n"
ACCESS = '{"llm": "a", "access_control": {"read": "all"}}'


@pytest.fixture
def agent(acme):
    return factories.make_agent(
        acme,
        "运维助手",
        documents=[
            ("persona.md", PERSONA),
            ("principles.md", PRINCIPLES),
            ("agent.json", ACCESS),
            ("users/u1/agents/1/relationship.md", "## 禁区\n不提旧事\n"),
        ],
    )


@pytest.fixture
def editor(signed_in, operator):
    return signed_in(operator)


def document_of(agent, path):
    return agent.documents.get(path=path)


def text_of(document):
    document.refresh_from_db()
    return DocumentVersion.objects.get(document=document, number=document.current_version).text


def change(client, document, text, **more):
    return save(client, document_page(document), FORM, text=text.replace("\n", "\r\n"), **more)


FREE = [
    ("persona.md", PERSONA.replace("旧", "新")),
    ("principles.md", PRINCIPLES + "- 少说话\n"),
    ("agent.json", ACCESS.replace('"a"', '"b"')),
]
TOUCHING = [
    ("persona.md", PERSONA.replace("# L0 — 核心身份", "# L0 — 身份")),
    ("persona.md", PERSONA.replace("冷静", "冷静 ")),
    ("persona.md", ""),
    ("principles.md", PRINCIPLES.replace("- 不删库\n", "- 不删库\n- 不重启\n")),
]


@pytest.mark.parametrize(("path", "text"), FREE)
def test_what_no_rule_protects_is_saved_at_once(editor, agent, path, text):
    assert change(editor, document_of(agent, path), text).status_code == 302
    assert text_of(document_of(agent, path)) == text


@pytest.mark.parametrize(("path", "text"), TOUCHING)
def test_a_protected_part_waits_for_the_typed_name(editor, agent, path, text):
    document = document_of(agent, path)
    old = text_of(document)
    response = change(editor, document, text)
    assert "PROTECTED_PATH" in errors_of(response)
    page = response.content.decode()
    assert "This changes a protected part" in page
    assert 'name="confirmation"' in page
    assert text_of(document) == old
    wrong = send(editor, document_page(document), form_of(response, FORM) | {"confirmation": "运维"})
    assert "PROTECTED_PATH" in errors_of(wrong)
    right = form_of(wrong, FORM) | {"confirmation": " 运维助手 "}
    assert send(editor, document_page(document), right).status_code == 302
    assert text_of(document) == text


def test_every_check_is_logged_the_refused_ones_too(editor, agent):
    document = document_of(agent, "persona.md")
    change(editor, document, "gone")
    change(editor, document, "gone", confirmation="运维助手")
    logged = ProtectedAccess.objects.order_by("pk").values_list("verdict", "path", "request", "actor_name")
    assert list(logged) == [
        ("blocked", "persona.md", "admin", "operator"),
        ("allowed", "persona.md", "admin", "operator"),
    ]


def test_control_without_the_confirmation_the_change_would_go_through(monkeypatch, editor, agent):
    monkeypatch.setattr(document_admin, "confirm_by_hand", lambda *args: None)
    assert change(editor, document_of(agent, "persona.md"), "gone").status_code == 302
    assert text_of(document_of(agent, "persona.md")) == "gone"


CLOSED = ACCESS.replace("all", "nobody")


def test_what_belongs_to_the_owner_only_the_owner_confirms(signed_in, operator, approver, agent):
    document = document_of(agent, "agent.json")
    client = signed_in(operator)
    before = text_of(document)
    response = change(client, document, CLOSED, confirmation="运维助手")
    assert "PROTECTED_PATH" in errors_of(response)
    assert 'name="confirmation"' not in response.content.decode()
    assert text_of(document) == before
    agent.owner = operator
    agent.save()
    assert "can_confirm" in errors_of(change(client, document, CLOSED))
    assert change(client, document, CLOSED, confirmation="运维助手").status_code == 302
    assert text_of(document) == CLOSED


def test_who_may_change_the_rules_may_stand_in_for_the_owner(signed_in, administrator, agent):
    document = document_of(agent, "agent.json")
    assert change(signed_in(administrator), document, CLOSED, confirmation="运维助手").status_code == 302


def test_the_owner_of_an_agent_has_no_say_in_a_users_privacy(signed_in, operator, administrator, agent):
    agent.owner = operator
    agent.save()
    add = "/admin/agents/document/add/"
    fields = {"agent": agent.pk, "path": "users/u1/privacy.md", "text": "x", "confirmation": "运维助手"}
    assert "PROTECTED_PATH" in errors_of(save(signed_in(operator), add, FORM, **fields))
    assert save(signed_in(administrator), add, FORM, **fields).status_code == 302


def test_a_part_that_wants_confirmation_gets_it_from_any_editor(editor, agent):
    document = document_of(agent, "users/u1/agents/1/relationship.md")
    assert "can_confirm" in errors_of(change(editor, document, "## 禁区\n无\n"))
    assert change(editor, document, "## 禁区\n无\n", confirmation="运维助手").status_code == 302


def test_creating_a_protected_file_needs_the_confirmation_too(editor, acme):
    agent = factories.make_agent(acme, "neu")
    add = "/admin/agents/document/add/"
    fields = {"agent": agent.pk, "path": "tools/x/credentials.yaml", "text": "k: v"}
    assert "PROTECTED_PATH" in errors_of(save(editor, add, FORM, **fields))
    assert not agent.documents.exists()
    assert save(editor, add, FORM, **fields, confirmation="neu").status_code == 302


def test_without_an_enabled_rule_nothing_can_be_saved(editor, agent):
    ProtectedPath.objects.update(enabled=False)
    document = document_of(agent, "principles.md")
    response = change(editor, document, "neu", confirmation="运维助手")
    assert "PROTECTED_PATHS_UNAVAILABLE" in errors_of(response)
    assert text_of(document) == PRINCIPLES
    assert ProtectedAccess.objects.get().verdict == "blocked"


def test_restoring_an_old_text_needs_the_same_confirmation(editor, agent):
    document = document_of(agent, "persona.md")
    change(editor, document, "gone", confirmation="运维助手")
    url = document_page(document).replace("change/", "history/1/restore/")
    assert "This changes a protected part" in editor.get(url).content.decode()
    before = text_of(document)
    response = editor.post(url, {"confirmed": "yes", "base_version": "2"})
    assert "Type the agent" in said(response)
    assert text_of(document) == before
    assert ProtectedAccess.objects.filter(verdict="blocked").exists()
    editor.post(url, {"confirmed": "yes", "base_version": "2", "confirmation": "运维助手"})
    assert text_of(document) == PERSONA


def test_the_page_names_the_rules_of_its_path(editor, agent):
    page = editor.get(document_page(document_of(agent, "principles.md"))).content.decode()
    assert "principles.md § 绝不做" in page
    assert "persona.md §" not in page


def test_a_stale_save_of_a_protected_part_is_stale_first(editor, agent, writer):
    document = document_of(agent, "persona.md")
    opened = form_of(editor.get(document_page(document)), FORM)
    changed = PERSONA.replace("旧", "新")
    writer.put(f"agents/{agent.pk}/documents", {"path": "persona.md", "text": changed})
    before = stored()
    response = send(editor, document_page(document), opened | {"text": "gone", "confirmation": "运维助手"})
    assert "VERSION_MISMATCH" in errors_of(response)
    assert stored() == before
