"""Documents over REST: exact texts, versions, stale bases, protected parts, whose `users/**` they are."""

import json

import pytest

from agents.models import Agent, AgentVersion, Document, DocumentVersion, ProtectedAccess, ProtectedPath
from common.receipts.models import Receipt
from common.receipts.selectors import verify_chain
from tests.factories import ApiClient, make_agent, make_key

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent(acme):
    return make_agent(acme, documents=[("principles.md", "# 准则\n\n## 绝不做\n\n删库\n\n## 语气\n\n客气\n")])


def put(client, agent, path, text, **more):
    return client.put(f"agents/{agent.pk}/documents", {"path": path, "text": text, **more})


def text_of(client, agent, path):
    listed = client.get(f"agents/{agent.pk}/documents?path={path}").json()["results"]
    return client.get(f"agents/{agent.pk}/documents/{listed[0]['id']}").json()["text"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no final newline",
        "final newline\n",
        "crlf\r\nand cr\rand lf\n\r\n",
        "  spaces stay  \t",
        "\ufeffbyte order mark",
        "\u2028\u2029\x0b\x0c\x1c\x85",
        "zero\u200bwidth \u202e bidi",
        "x" * 200_000,
        "字" * 200_000,
        "{{ template }} {% if %} %s {0.__class__} $$NAMETAG1",
    ],
    ids=lambda value: ascii(value)[:24],
)
def test_a_text_is_kept_exactly_as_sent(writer, agent, text):
    body = json.dumps({"path": "memory/notes.md", "text": text}, ensure_ascii=False).encode()
    answer = writer.put(f"agents/{agent.pk}/documents", body)
    assert answer.status_code == 201, answer.content.decode()[:300]
    assert answer.json()["text"] == text
    assert text_of(writer, agent, "memory/notes.md") == text


@pytest.mark.parametrize(
    ("sent", "pointer", "in_detail"),
    [
        ({"path": "a.md"}, "/text", ""),
        ({"text": "x"}, "/path", ""),
        ({"path": "a.md", "text": None}, "/text", ""),
        ({"path": "a.md", "text": 7}, "/text", ""),
        ({"path": "a.md", "text": "x" * 200_007}, "/text", "7"),
        ({"path": "a.md", "text": "x", "note": "n" * 2001}, "/note", "2001"),
        ({"path": "a.md", "text": "x", "base_version": -1}, "/base_version", ""),
        ({"path": "a.md", "text": "x", "base_version": "one"}, "/base_version", ""),
        ({"path": "agent.json", "text": "[]"}, "/text", ""),
        ({"path": "agent.json", "text": "{"}, "/text", ""),
        ({"path": "Agent.JSON", "text": "not json"}, "/text", ""),
    ],
)
def test_a_bad_field_is_named_and_nothing_is_stored(writer, agent, sent, pointer, in_detail):
    answer = writer.put(f"agents/{agent.pk}/documents", sent)
    assert answer.status_code == 400, answer.content.decode()
    fault = answer.json()["errors"][0]
    assert fault["pointer"] == pointer
    assert in_detail in fault["detail"]
    assert Document.objects.filter(agent=agent).count() == 1


def test_each_change_is_a_version_and_equal_text_adds_none(writer, agent):
    first = put(writer, agent, "memory/notes.md", "one\n", note="why")
    again = put(writer, agent, "memory/notes.md", "one\n")
    second = put(writer, agent, "Memory//Notes.md", "one")
    assert [answer.status_code for answer in (first, again, second)] == [201, 200, 200]
    assert [answer.json()["version"] for answer in (first, again, second)] == [1, 1, 2]
    assert [answer["ETag"] for answer in (first, again, second)] == ['"1"', '"1"', '"2"']
    assert second.json()["id"] == first.json()["id"]
    base = f"agents/{agent.pk}/documents/{first.json()['id']}"
    versions = writer.get(f"{base}/versions").json()["results"]
    assert [(row["number"], row["note"], row["source"]) for row in versions] == [
        (2, "", "api"),
        (1, "why", "api"),
    ]
    assert writer.get(f"{base}/versions/1").json()["text"] == "one\n"
    diff = writer.get(f"{base}/diff?from=1&to=2").json()
    assert "\\ No newline at end of file" in diff["diff"]
    assert (diff["from"], diff["to"], diff["path"]) == (1, 2, "memory/notes.md")


def test_a_body_document_raises_the_version_of_its_agent_and_leaves_one_receipt(writer, agent, acme):
    before = Receipt.objects.count()
    put(writer, agent, "memory/notes.md", "one", note="because")
    put(writer, agent, "memory/notes.md", "one")
    agent.refresh_from_db()
    assert agent.version == 2
    version = AgentVersion.objects.get(agent=agent, number=2)
    assert version.snapshot["documents"]["memory/notes.md"]["version"] == 1
    assert Receipt.objects.count() == before + 1
    assert verify_chain(acme).intact


@pytest.mark.parametrize(
    ("base", "headers", "status"),
    [
        (1, {}, 200),
        ("1", {}, 200),
        (0, {}, 412),
        (None, {}, 412),
        (2, {}, 412),
        (1, {"if_match": '"1"'}, 200),
        (1, {"if_match": '"2"'}, 412),
        (2, {"if_match": '"1"'}, 412),
        ("absent", {"if_match": '"1"'}, 200),
        ("absent", {"if_match": 'W/"1"'}, 200),
        ("absent", {"if_match": '"0", "1"'}, 200),
        ("absent", {"if_match": "*"}, 200),
        ("absent", {"if_match": '"9"'}, 412),
        ("absent", {"if_match": "1"}, 412),
        ("absent", {}, 200),
    ],
)
def test_a_stale_base_is_refused_with_the_current_version(writer, agent, base, headers, status):
    put(writer, agent, "memory/notes.md", "one")
    body = {"path": "memory/notes.md", "text": "two"} | ({} if base == "absent" else {"base_version": base})
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    answer = writer.put(f"agents/{agent.pk}/documents", body, **sent)
    assert answer.status_code == status, answer.content.decode()
    if status == 412:
        assert answer.json()["code"] == "VERSION_MISMATCH"
        assert answer.json()["current_version"] == 1
        assert text_of(writer, agent, "memory/notes.md") == "one"


def test_base_version_0_makes_a_new_document_only(writer, agent):
    assert put(writer, agent, "memory/new.md", "x", base_version=0).status_code == 201
    assert put(writer, agent, "memory/new.md", "y", base_version=0).status_code == 412


@pytest.mark.parametrize(
    ("old", "new", "protected"),
    [
        ("删库", "删库\n改权限", True),
        ("## 绝不做", "## 绝不做吧", True),
        ("客气", "客气，简短", False),
    ],
)
def test_a_protected_section_is_refused_and_the_refusal_is_logged(writer, agent, old, new, protected):
    text = text_of(writer, agent, "principles.md").replace(old, new)
    answer = put(writer, agent, "principles.md", text)
    access = ProtectedAccess.objects.get(agent=agent)
    assert (access.path, access.actor_name[:4]) == ("principles.md", "key:")
    assert access.request == f"PUT /agents/{agent.pk}/documents"
    assert "principles.md" in access.rule
    if protected:
        assert (answer.status_code, answer.json()["code"]) == (403, "PROTECTED_PATH")
        assert access.verdict == "blocked"
        assert text_of(writer, agent, "principles.md") != text
    else:
        assert answer.status_code == 200
        assert access.verdict == "allowed"


@pytest.mark.parametrize(
    "path",
    [
        "tools/db/credentials.yaml",
        "tools/permissions.yaml",
        "users/u1/privacy.md",
        "TOOLS/x/./Credentials.YAML ",
    ],
)
def test_a_protected_file_is_not_even_created(writer, agent, path):
    answer = put(writer, agent, path, "x")
    assert (answer.status_code, answer.json()["code"]) == (403, "PROTECTED_PATH")
    assert Document.objects.filter(agent=agent).count() == 1


@pytest.mark.parametrize(
    "path", ["../other/persona.md", "/etc/passwd", "C:\\x", "a%2Fb.md", "", "a\u202e/../..", "."]
)
def test_a_path_that_cannot_be_is_refused_and_logged(writer, agent, path):
    answer = put(writer, agent, path, "x")
    assert (answer.status_code, answer.json()["code"]) == (400, "PATH_INVALID")
    assert answer.json()["errors"][0]["pointer"] == "/path"
    access = ProtectedAccess.objects.get()
    assert (access.verdict, access.company.slug, access.agent_name) == ("blocked", "acme", agent.name)
    assert "\u202e" not in access.path


def test_without_an_enabled_rule_nothing_is_written_and_that_is_logged(writer, agent):
    ProtectedPath.objects.update(enabled=False)
    answer = put(writer, agent, "memory/notes.md", "x")
    assert (answer.status_code, answer.json()["code"]) == (409, "PROTECTED_PATHS_UNAVAILABLE")
    assert ProtectedAccess.objects.get().verdict == "blocked"
    assert Document.objects.filter(agent=agent).count() == 1


def test_users_documents_on_a_shared_agent_belong_to_the_company_that_wrote_them(
    writer, rival_writer, reader, acme, rival, global_company
):
    shared = make_agent(global_company, documents=[("principles.md", "# 准则\n")])
    path = "users/u1/profile.md"
    assert put(writer, shared, path, "acme's").status_code == 201
    assert put(rival_writer, shared, path, "rival's").status_code == 201
    assert text_of(writer, shared, path) == "acme's"
    assert text_of(rival_writer, shared, path) == "rival's"
    home = ApiClient(make_key(global_company, scopes=["read"]))
    for client, paths in [
        (writer, ["principles.md", path]),
        (rival_writer, ["principles.md", path]),
        (home, ["principles.md"]),
    ]:
        listed = client.get(f"agents/{shared.pk}/documents").json()["results"]
        assert [row["path"] for row in listed] == paths
    theirs = Document.objects.get(company=rival)
    for below in ("", "/versions", "/versions/1", "/diff?from=1&to=1"):
        assert writer.get(f"agents/{shared.pk}/documents/{theirs.pk}{below}").status_code == 404
    assert Agent.objects.get(pk=shared.pk).version == 1
    for company in (acme, rival):
        assert Receipt.objects.filter(company=company, agent_id=shared.pk).count() == 1
        assert verify_chain(company).intact
    assert put(writer, shared, "principles.md", "mine").status_code == 403


def test_documents_come_by_path_in_code_point_order(reader, acme):
    paths = ["memory/Z.md", "memory/a.md", "memory/é.md", "memory/中.md", "persona.md", "memory/B.md"]
    agent = make_agent(acme, documents=[(path, "x") for path in paths])
    listed = [row["path"] for row in reader.get(f"agents/{agent.pk}/documents").json()["results"]]
    assert listed == sorted(paths)


def test_a_document_of_another_agent_is_not_found_under_this_one(reader, acme, agent):
    other = make_agent(acme, documents=[("memory/a.md", "x")])
    document = Document.objects.get(agent=other)
    answer = reader.get(f"agents/{agent.pk}/documents/{document.pk}")
    assert (answer.status_code, answer.json()["code"]) == (404, "NOT_FOUND")


@pytest.mark.parametrize("below", ["versions/9", "diff?from=1&to=9", "diff?from=9&to=1"])
def test_an_unknown_version_is_not_found(reader, agent, below):
    document = Document.objects.get(agent=agent)
    assert reader.get(f"agents/{agent.pk}/documents/{document.pk}/{below}").status_code == 404


def test_a_list_of_documents_reads_no_text(reader, acme, django_assert_num_queries):
    agent = make_agent(acme, documents=[("memory/a.md", "secret text")])
    with django_assert_num_queries(5) as captured:
        reader.get(f"agents/{agent.pk}/documents")
    assert not any('"text"' in query["sql"] for query in captured.captured_queries)
    assert DocumentVersion.objects.get(document__agent=agent).text == "secret text"
