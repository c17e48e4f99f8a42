"""Each operation, applied and taken back: what was there before comes back byte for byte."""

import pytest

from agents.models import Document, DocumentVersion
from common.receipts.models import Receipt
from common.receipts.selectors import verify_chain
from tests.factories import ApiClient, make_agent, make_key
from tests.proposals.samples import LESSON, NOTE, PREFERENCE, SETTINGS, note, whole

pytestmark = pytest.mark.django_db
SIGNED = {"reason": "gut", "confirmation": "运维"}
CRLF = "# 笔记\r\n\r\n- 一\r\n\r\nohne Ende"


@pytest.fixture
def owner(staff):
    return staff("owner", "view", "approve", "apply", "rollback")


@pytest.fixture
def agent(acme, owner):
    return make_agent(
        acme,
        name="运维",
        owner_id=owner.person.pk,
        rows=["eins", ("zwei", False), "drei"],
        documents=[("memory/notes.md", CRLF), ("agent.json", SETTINGS), ("memory/empty.md", "")],
    )


def rows(agent):
    return list(agent.experiences.order_by("order").values_list("pk", "content", "enabled", "order"))


def state(agent, documents):
    agent.refresh_from_db()
    return agent.system_prompt, rows(agent), documents(agent)


def items(agent):
    """name -> item of each operation."""
    first, second = [{"type": "experience", "target": f"experiences/{row[0]}"} for row in rows(agent)[:2]]
    return {
        "create": note("neu", target="memory/new.md"),
        "create empty": whole("memory/none.md", ""),
        "update by line": NOTE,
        "update whole": whole("memory/notes.md", "ganz\r\nanders"),
        "update of an empty text": note("x", target="memory/empty.md"),
        "update to an empty text": whole("memory/notes.md", ""),
        "update json": whole("agent.json", SETTINGS.replace('"a"', '"b"')),
        "update of an owner-only key": whole("agent.json", SETTINGS.replace("false", "true")),
        "delete": {**NOTE, "operation": "delete"},
        "rename": {**NOTE, "operation": "rename", "content": "", "new_target": "memory/moved.md"},
        "rename and change": {
            **NOTE, "operation": "rename", "new_target": "memory/moved.md", "new_text": "anders",
        },
        "user document": PREFERENCE,
        "role": whole("system_prompt", "你是发布助手。"),
        "role by line": {**note("先看日志", target="system_prompt"), "type": "role"},
        "add experience": LESSON,
        "update experience": {**first, "operation": "update_experience", "content": "EINS"},
        "update a disabled experience": {**second, "operation": "update_experience", "content": "ZWEI"},
        "disable experience": {**first, "operation": "disable_experience"},
        "delete experience": {**second, "operation": "delete_experience"},
    }  # fmt: skip


NAMES = [
    "create", "create empty", "update by line", "update whole", "update of an empty text",
    "update to an empty text", "update json", "update of an owner-only key", "delete", "rename",
    "rename and change", "user document", "role", "role by line", "add experience", "update experience",
    "update a disabled experience", "disable experience", "delete experience",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_an_operation_writes_what_was_shown_and_is_taken_back_byte_for_byte(
    runtime, owner, agent, acme, documents, name
):
    before = state(agent, documents)
    proposal = runtime.draft(agent, items(agent)[name])
    assert not proposal["items"][0]["faults"], proposal["items"][0]["faults"]
    assert state(agent, documents) == before
    code = proposal["code"]
    applied = owner.post(f"proposals/{code}/approve", SIGNED)
    assert applied.status_code == 200 and applied.json()["status"] == "applied", applied.content.decode()
    assert state(agent, documents) != before
    back = owner.post(f"proposals/{code}/rollback", {"reason": "doch nicht"})
    assert back.json()["status"] == "rolled_back", back.content.decode()
    assert state(agent, documents) == before
    receipt = Receipt.objects.get(trigger="proposal_rolled_back")
    assert (receipt.type, receipt.totals["rolled_back"], receipt.totals["total"]) == ("rollback", 1, 1)
    assert Receipt.objects.filter(proposal_code=code).count() == 2
    assert verify_chain(acme).intact


def test_the_items_above_are_all_operations_there_are(agent):
    assert set(NAMES) == set(items(agent))


def test_the_new_text_is_written_as_shown(runtime, owner, agent, documents):
    item = runtime.draft(agent, NOTE)["items"][0]
    owner.post("proposals/EP-001/approve")
    written = documents(agent)["memory/notes.md"]
    assert written == item["new_text"] == CRLF + "\r\n\r\n## 知识\r\n\r\n- 先备份\r\n"


def test_a_version_says_who_confirmed_what(runtime, owner, agent):
    runtime.draft(agent, PREFERENCE, title="表格\n展示")
    owner.post("proposals/EP-001/approve", {"note": "更新 用户偏好"})
    version = DocumentVersion.objects.get(proposal_code="EP-001")
    assert version.source == "proposal"
    assert version.note == (
        "learn(preference): 表格 展示\n\n- 更新 用户偏好\n- 来源：人工\n\n"
        "Learned by: self-evolve\nUser confirmed: true"
    )


def test_a_user_document_belongs_to_the_proposals_company(runtime, owner, agent, acme):
    runtime.draft(agent, PREFERENCE)
    version_before = agent.version
    owner.post("proposals/EP-001/approve")
    agent.refresh_from_db()
    assert Document.objects.get(path="users/u1/profile.md").company == acme
    assert agent.version == version_before


def test_an_agent_gets_one_version_however_many_items_are_applied(runtime, owner, agent):
    runtime.draft(agent, NOTE, note("b", target="memory/b.md"), LESSON)
    version = agent.version
    owner.post("proposals/EP-001/approve")
    agent.refresh_from_db()
    assert agent.version == version + 1


@pytest.mark.parametrize(
    ("path", "text"),
    [("principles.md", "## 规则\n\n- x\n"), ("persona.md", "# 别的\n"), ("agent.json", "{}")],
)
def test_a_protected_kind_of_document_that_a_change_created_goes_again_with_it(
    runtime, owner, acme, documents, path, text
):
    agent = make_agent(acme, name="运维", owner_id=owner.person.pk)
    code = runtime.code(agent, whole(path, text))
    owner.post(f"proposals/{code}/approve", SIGNED)
    assert documents(agent) == {path: text}
    back = owner.post(f"proposals/{code}/rollback", {"reason": "r"})
    assert back.json()["status"] == "rolled_back", back.content.decode()
    assert documents(agent) == {}


def test_a_switched_off_row_leaves_the_prompt_and_comes_back(runtime, owner, agent):
    before = runtime.prompt(agent)
    code = runtime.code(agent, items(agent)["disable experience"])
    owner.post(f"proposals/{code}/approve")
    assert "- eins" not in runtime.prompt(agent)
    owner.post(f"proposals/{code}/rollback", {"reason": "r"})
    assert runtime.prompt(agent) == before


def test_two_changes_of_one_row_build_on_each_other(runtime, owner, agent, documents):
    first = items(agent)["update experience"]
    switch = items(agent)["disable experience"]
    before = state(agent, documents)
    code = runtime.code(agent, first, switch)
    owner.post(f"proposals/{code}/approve")
    assert rows(agent)[0][1:3] == ("EINS", False)
    owner.post(f"proposals/{code}/rollback", {"reason": "r"})
    assert state(agent, documents) == before


def test_a_deleted_document_goes_on_with_its_history(runtime, owner, agent, documents):
    code = runtime.code(agent, items(agent)["delete"])
    owner.post(f"proposals/{code}/approve")
    assert "memory/notes.md" not in documents(agent)
    again = runtime.code(agent, note("wieder"))
    owner.post(f"proposals/{again}/approve")
    document = Document.objects.get(path="memory/notes.md")
    assert [version.text for version in document.versions.order_by("number")] == [
        CRLF, "", "## 知识\n\n- wieder\n",
    ]  # fmt: skip


# -- when the text went on


@pytest.fixture
def writer(acme):
    return ApiClient(make_key(acme, scopes=["read", "agents:write"]))


def rolled_back(owner, code):
    return owner.post(f"proposals/{code}/rollback", {"reason": "r"})


def put(writer, agent, path, text):
    answer = writer.put(f"agents/{agent.pk}/documents", {"path": path, "text": text})
    assert answer.status_code == 200, answer.content.decode()


def test_a_later_edit_elsewhere_survives_the_rollback(runtime, owner, writer, agent, documents):
    code = runtime.code(agent, NOTE)
    owner.post(f"proposals/{code}/approve")
    put(writer, agent, "memory/notes.md", documents(agent)["memory/notes.md"].replace("- 一", "- eins"))
    assert rolled_back(owner, code).json()["status"] == "rolled_back"
    assert documents(agent)["memory/notes.md"] == CRLF.replace("- 一", "- eins")


def test_what_was_added_behind_a_role_since_survives_the_rollback(runtime, owner, writer, agent):
    """The role ends without a line end: what comes behind it is another line all the same."""
    before = agent.system_prompt
    code = runtime.code(agent, items(agent)["role by line"])
    assert owner.post(f"proposals/{code}/approve", SIGNED).json()["status"] == "applied"
    agent.refresh_from_db()
    writer.patch(f"agents/{agent.pk}", {"system_prompt": f"{agent.system_prompt}\n\n后来加的"})
    assert rolled_back(owner, code).json()["status"] == "rolled_back"
    agent.refresh_from_db()
    assert agent.system_prompt == f"{before}\n\n后来加的"


def test_a_later_edit_of_the_same_line_is_a_conflict_with_a_report(runtime, owner, writer, agent, documents):
    code = runtime.code(agent, NOTE)
    owner.post(f"proposals/{code}/approve")
    put(writer, agent, "memory/notes.md", documents(agent)["memory/notes.md"].replace("先备份", "先备份两次"))
    before = documents(agent)
    answer = rolled_back(owner, code)
    assert (answer.status_code, answer.json()["code"]) == (409, "ROLLBACK_CONFLICT")
    assert "+- 先备份两次" in answer.json()["report"]
    assert documents(agent) == before
    assert runtime.get(f"proposals/{code}").json()["status"] == "applied"
    assert not Receipt.objects.filter(type="rollback").exists()


def test_of_two_lines_learnt_one_after_the_other_the_first_can_be_taken_back(
    runtime, owner, agent, documents
):
    first = runtime.code(agent, note("eins", target="memory/x.md"))
    owner.post(f"proposals/{first}/approve")
    second = runtime.code(agent, note("zwei", target="memory/x.md"))
    owner.post(f"proposals/{second}/approve")
    third = runtime.code(agent, note("drei", target="memory/y.md"))
    owner.post(f"proposals/{third}/approve")
    # The first one created the document, so it cannot be taken out of what others wrote into it.
    assert rolled_back(owner, first).status_code == 409
    assert rolled_back(owner, second).json()["status"] == "rolled_back"
    assert rolled_back(owner, first).json()["status"] == "rolled_back"
    assert "memory/x.md" not in documents(agent) and "memory/y.md" in documents(agent)


AFTERWARDS = {
    "add experience": lambda agent, writer: writer.patch(
        f"agents/{agent.pk}/experiences/{rows(agent)[-1][0]}", {"content": "geändert"}
    ),
    "update experience": lambda agent, writer: writer.patch(
        f"agents/{agent.pk}/experiences/{rows(agent)[0][0]}", {"content": "geändert"}
    ),
    "disable experience": lambda agent, writer: writer.delete(
        f"agents/{agent.pk}/experiences/{rows(agent)[0][0]}"
    ),
    "delete": lambda agent, writer: put(writer, agent, "memory/notes.md", "neu"),
    "rename": lambda agent, writer: put(writer, agent, "memory/moved.md", "neu"),
    "rename and change": lambda agent, writer: put(writer, agent, "memory/notes.md", "neu"),
    "create": lambda agent, writer: put(writer, agent, "memory/new.md", "neu"),
    "role": lambda agent, writer: writer.patch(f"agents/{agent.pk}", {"system_prompt": "anders"}),
}


@pytest.mark.parametrize("name", AFTERWARDS)
def test_what_others_changed_since_is_never_overwritten_by_a_rollback(
    runtime, owner, writer, agent, documents, name
):
    code = runtime.code(agent, items(agent)[name])
    owner.post(f"proposals/{code}/approve", SIGNED)
    AFTERWARDS[name](agent, writer)
    before = state(agent, documents)
    answer = rolled_back(owner, code)
    assert (answer.status_code, answer.json()["code"]) == (409, "ROLLBACK_CONFLICT"), answer.content.decode()
    is_file = name.startswith(("create", "delete", "rename"))
    assert is_file or "No newline" not in answer.json()["report"]
    assert state(agent, documents) == before


def test_one_conflict_keeps_all_items_as_they_are(runtime, owner, writer, agent, documents):
    code = runtime.code(agent, NOTE, LESSON)
    owner.post(f"proposals/{code}/approve")
    writer.patch(f"agents/{agent.pk}/experiences/{rows(agent)[-1][0]}", {"content": "geändert"})
    before = state(agent, documents)
    assert rolled_back(owner, code).status_code == 409
    assert state(agent, documents) == before


def test_a_rollback_needs_a_reason_and_happens_once(runtime, owner, agent):
    code = runtime.code(agent, NOTE)
    assert rolled_back(owner, code).status_code == 409
    owner.post(f"proposals/{code}/approve", {"reason": "gut"})
    assert owner.post(f"proposals/{code}/rollback", {}).status_code == 400
    answer = owner.post(f"proposals/{code}/rollback", {"reason": "doch nicht"}).json()
    assert (answer["rollback_reason"], answer["rolled_back_by"]) == ("doch nicht", "owner")
    assert answer["decision_reason"] == "gut"
    assert rolled_back(owner, code).status_code == 409


def test_the_export_of_a_rollback_gives_its_reason(runtime, owner, reviewer, agent):
    code = runtime.code(agent, NOTE)
    owner.post(f"proposals/{code}/approve")
    owner.post(f"proposals/{code}/rollback", {"reason": "doch nicht"})
    receipt = Receipt.objects.get(type="rollback")
    export = reviewer.get(f"receipts/{receipt.pk}?format=json").json()["receipt"]
    assert export["learning_items"][0]["rejection_reason"] == "doch nicht"


def test_restoring_an_owner_only_part_needs_the_owner(runtime, owner, staff, agent, documents):
    code = runtime.code(agent, items(agent)["update of an owner-only key"])
    owner.post(f"proposals/{code}/approve", SIGNED)
    other = staff("other", "view", "approve", "apply", "rollback")
    before = documents(agent)
    answer = rolled_back(other, code)
    assert (answer.status_code, answer.json()["code"]) == (403, "PERMISSION_DENIED")
    assert documents(agent) == before
    assert rolled_back(owner, code).json()["status"] == "rolled_back"
