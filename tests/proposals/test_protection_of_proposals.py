"""Protected parts, whatever their spelling and whoever approves: by drafts, edits, renames and deletions."""

import pytest
from django.utils import timezone

from agents.models import ProtectedAccess, ProtectedPath
from agents.rules import protection
from agents.services.protection_rules import create_protection_rule
from common.receipts.models import Receipt
from evolution.proposals.models import Proposal
from tests.agents.test_protected_spellings import FORGED, PERSONA, ROWS
from tests.factories import SYSTEM, make_agent
from tests.proposals.samples import NOTE, PRINCIPLES, SETTINGS, note, whole
from tests.sizes import sized

pytestmark = pytest.mark.django_db
SIGNED = {"reason": "gut", "confirmation": "运维"}
DOCUMENTS = [
    ("persona.md", PERSONA),
    ("principles.md", PRINCIPLES),
    ("agent.json", SETTINGS),
    ("memory/notes.md", "# 笔记\n"),
    ("tools/git/credentials.yaml", "a: 1"),
    ("tools/git/permissions.yaml", "a: 1"),
]


@pytest.fixture
def owner(staff):
    return staff("owner", "view", "add", "change", "approve", "apply")


@pytest.fixture
def agent(acme, owner):
    return make_agent(acme, name="运维", owner_id=owner.person.pk, documents=DOCUMENTS)


@pytest.fixture
def insider(staff):
    """Approves and applies, but owns nothing."""
    return staff("insider", "view", "add", "change", "approve", "apply")


def spellings_as_items():
    """Four ways to reach each spelling: writing it, deleting it, renaming it away, renaming onto it."""
    for name, (_path, _old, new, sent) in ROWS.items():
        kind = {"type": "role", "target": sent}
        yield f"write {name}", whole(sent, new)
        yield f"delete {name}", {**kind, "operation": "delete"}
        yield f"away {name}", {**kind, "operation": "rename", "new_target": "memory/old.md"}
        yield (
            f"onto {name}",
            {
                "type": "role",
                "operation": "rename",
                "target": "memory/notes.md",
                "new_target": sent,
                "new_text": new,
            },
        )


SPELLINGS = dict(spellings_as_items())


def test_there_are_spellings_enough():
    assert len(SPELLINGS) >= 4 * 60


@pytest.mark.parametrize("way", ["write", "delete", "away", "onto"])
def test_no_spelling_of_a_protected_path_gets_through(runtime, insider, agent, documents, way):
    before = documents(agent)
    ways = [(name, item) for name, item in SPELLINGS.items() if name.startswith(f"{way} ")]
    # Every spelling is written; of the other ways a quarter is tried at each commit, all of them at night.
    for name, item in ways[:: 1 if way == "write" else sized(4, 1)]:
        answer = runtime.post("proposals", {"agent": agent.pk, "items": [item]})
        # Refused outright (no such document, a character that no JSON may hold), or drafted and blocked.
        assert answer.status_code in (201, 400, 404), (name, answer.content.decode())
        if answer.status_code == 201:
            proposal = answer.json()
            assert (proposal["status"], proposal["items"][0]["status"]) == ("blocked", "blocked"), name
    for code in ("EP-001", "EP-002"):
        assert insider.post(f"proposals/{code}/approve", SIGNED).status_code == 409
    assert documents(agent) == before


def test_without_the_normal_form_spellings_would_get_through(runtime, agent, monkeypatch):
    """The control: with the path compared as sent, writes to look-alikes are drafted and wait for approval."""
    monkeypatch.setattr(protection, "normalise_path", lambda raw: raw)
    monkeypatch.setattr(protection, "path_matches", lambda pattern, path: False)
    monkeypatch.setattr(protection, "path_resembles", lambda pattern, path: False)
    runtime.draft(agent, whole("persona.md", FORGED))
    assert Proposal.objects.get().status == "pending"


def test_an_edit_cannot_move_an_item_onto_a_protected_path(runtime, insider, agent):
    for sent in ("persona.md", "./Persona.MD", "ｐersona.md", "x/../persona.md", "persоna.md", "/etc/passwd"):
        code = runtime.code(agent, note(f"an {sent}"))
        edited = insider.patch(f"proposals/{code}/items/1", {"target": sent, "new_text": FORGED}).json()
        assert edited["items"][0]["status"] == "blocked", sent


GOLDEN = [
    ("principles.md", PRINCIPLES.replace("- 泄露密钥\n", "- 泄露密钥\n- 撒谎\n"), "blocked"),
    ("principles.md", PRINCIPLES.replace("- 先看日志\n", "- 先看日志\n- 附图\n"), "pending"),
    ("principles.md", PRINCIPLES.replace("## 绝不做", "## 绝不做 "), "blocked"),
    ("persona.md", PERSONA.replace("核心身份", "核心"), "blocked"),
    ("persona.md", PERSONA + "\n# L01 附录\n\n说话简短。\n", "pending"),
    ("agent.json", SETTINGS.replace('"a"', '"b"'), "pending"),
    ("agent.json", SETTINGS.replace('["x"]', '["x", "y"]'), "pending"),
    ("agent.json", "{", "blocked"),
    ("../other/persona.md", "x", "blocked"),
    ("tools/git/credentials.yaml", "a: 2", "blocked"),
]


@pytest.mark.parametrize(("target", "text", "state"), GOLDEN)
def test_the_golden_rows(runtime, agent, target, text, state):
    item = runtime.draft(agent, whole(target, text))["items"][0]
    assert item["status"] == state
    assert item["risk"] == ("forbidden" if state == "blocked" else "high")


def test_a_path_that_is_none_is_blocked_logged_receipted_and_shown_with_its_hidden_signs(runtime, agent):
    proposal = runtime.draft(agent, whole("memory/\u202e../../x.md", "x"))
    item = proposal["items"][0]
    assert item["rejection_reason"].startswith("PATH_INVALID: ")
    assert item["target"] == "memory/[U+202E]../../x.md"
    access = ProtectedAccess.objects.get(request=proposal["code"])
    assert (access.verdict, access.path) == ("blocked", "memory/[U+202E]../../x.md")
    assert Receipt.objects.get(trigger="items_blocked").lines.get().status == "blocked"


def test_the_new_name_of_a_rename_is_named_where_it_is_the_bad_one(runtime, agent):
    move = {**NOTE, "operation": "rename", "new_target": "../x.md"}
    runtime.draft(agent, move)
    assert ProtectedAccess.objects.latest("pk").path == "../x.md"


def test_a_blocked_item_says_what_to_do(runtime, agent):
    runtime.draft(agent, whole("persona.md", FORGED))
    text = runtime.get("proposals/EP-001/text").json()["text"]
    assert "已阻断，须由人工修改：PROTECTED_PATH: " in text and "persona.md § L0" in text


# -- checked when drafted, approved and applied


def test_each_check_leaves_its_line_in_the_log(runtime, insider, applier, agent):
    code = runtime.code(agent, whole("persona.md", PERSONA + "\n# L01 附录\n\nneu\n"))
    assert ProtectedAccess.objects.filter(request=code).count() == 1
    insider.person.groups.get().permissions.remove(
        *insider.person.groups.get().permissions.filter(codename="apply_proposal")
    )
    insider.post(f"proposals/{code}/approve", SIGNED)
    assert ProtectedAccess.objects.filter(request=code).count() == 2
    applier.post(f"proposals/{code}/apply")
    log = ProtectedAccess.objects.filter(request=code).order_by("pk")
    assert [entry.actor_name for entry in log][1:] == ["insider", "applier"]
    assert {(entry.path, entry.rule, entry.level, entry.verdict) for entry in log} == {
        ("persona.md", "persona.md § L0", "block", "allowed")
    }


def test_an_item_that_was_protected_after_it_was_drafted_is_blocked_at_the_approval(runtime, insider, agent):
    code = runtime.code(agent, NOTE)
    create_protection_rule(
        fields={"pattern": "memory/**", "level": "block"}, actor=SYSTEM, now=timezone.now()
    )
    answer = insider.post(f"proposals/{code}/approve").json()
    assert (answer["status"], answer["items"][0]["status"]) == ("blocked", "blocked")
    assert Receipt.objects.get(trigger="proposal_blocked").totals["blocked"] == 1


# -- the owner


@pytest.mark.parametrize(
    "item",
    [
        whole("agent.json", SETTINGS.replace("false", "true")),
        whole("tools/git/permissions.yaml", "a: 2"),
        whole("system_prompt", "你是新人。"),
    ],
    ids=["agent.json", "permissions", "role"],
)
def test_what_belongs_to_the_owner_only_the_owner_approves(runtime, insider, owner, agent, item):
    proposal = runtime.draft(agent, item)
    assert proposal["items"][0]["protection"][0]["verdict"] == "needs_owner"
    code = proposal["code"]
    answer = insider.post(f"proposals/{code}/approve", SIGNED)
    assert (answer.status_code, answer.json()["code"]) == (403, "PERMISSION_DENIED")
    assert owner.post(f"proposals/{code}/approve", SIGNED).json()["status"] == "applied"


def test_without_an_owner_nobody_approves_it(runtime, reviewer, acme):
    agent = make_agent(acme, name="运维")
    code = runtime.code(agent, whole("system_prompt", "neu"))
    assert reviewer.post(f"proposals/{code}/approve", SIGNED).status_code == 403


def test_the_owner_of_today_counts(runtime, owner, approver_only, applier, agent):
    """Approved by the owner, who then gave the agent away: the new owner has not approved."""
    code = runtime.code(agent, whole("system_prompt", "neu"))
    owner.person.groups.get().permissions.remove(
        *owner.person.groups.get().permissions.filter(codename="apply_proposal")
    )
    assert owner.post(f"proposals/{code}/approve", SIGNED).json()["status"] == "approved"
    agent.owner = approver_only.person
    agent.save()
    answer = applier.post(f"proposals/{code}/apply")
    assert (answer.status_code, answer.json()["failure_code"]) == (409, "PERMISSION_DENIED")


PRIVACY = whole("users/u1/privacy.md", "kein Protokoll\n", type="user_preference")


def test_a_users_privacy_is_approved_by_that_user_through_a_key(runtime, agent, documents):
    code = runtime.code(agent, PRIVACY)
    for body, status in (
        ({"decided_by": "u2", **SIGNED}, 403),
        ({"decided_by": "u1"}, 400),
        ({"decided_by": "u1", "reason": "r"}, 400),
        ({"decided_by": "u1", **SIGNED}, 200),
    ):
        answer = runtime.post(f"proposals/{code}/approve", body)
        assert answer.status_code == status, answer.content.decode()
    assert documents(agent)["users/u1/privacy.md"] == "kein Protokoll\n"


def test_neither_the_owner_nor_staff_decide_for_a_user(runtime, owner, insider, reviewer, agent):
    code = runtime.code(agent, PRIVACY)
    for person in (owner, insider, reviewer):
        for body in (SIGNED, {**SIGNED, "decided_by": "u1"}):
            assert person.post(f"proposals/{code}/approve", body).status_code == 403


def test_a_person_who_names_a_user_still_answers_for_the_decision(runtime, approver_only, applier, agent):
    """`decided_by` of a person is no relay: the person's own rights are looked at again."""
    code = runtime.code(agent, NOTE)
    approver_only.post(f"proposals/{code}/approve", {"decided_by": "u1"})
    approver_only.person.groups.clear()
    answer = applier.post(f"proposals/{code}/apply")
    assert (answer.status_code, answer.json()["failure_code"]) == (409, "PERMISSION_DENIED")


# -- the extra confirmation


def test_a_users_limits_need_the_agents_typed_name(runtime, insider, acme):
    agent = make_agent(acme, name="运维")
    create_protection_rule(
        fields={"pattern": "memory/careful.md", "level": "confirm"}, actor=SYSTEM, now=timezone.now()
    )
    code = runtime.code(agent, note("a", target="memory/careful.md"))
    answer = insider.post(f"proposals/{code}/approve")
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (400, "/confirmation")
    assert insider.post(f"proposals/{code}/approve", {"confirmation": "运维"}).json()["status"] == "applied"


def test_taking_it_back_needs_the_name_again(runtime, insider, reviewer, acme):
    agent = make_agent(acme, name="运维")
    create_protection_rule(
        fields={"pattern": "memory/careful.md", "level": "confirm"}, actor=SYSTEM, now=timezone.now()
    )
    code = runtime.code(agent, note("a", target="memory/careful.md"))
    insider.post(f"proposals/{code}/approve", {"confirmation": "运维"})
    assert reviewer.post(f"proposals/{code}/rollback", {"reason": "r"}).status_code == 400
    body = {"reason": "r", "confirmation": "运维"}
    assert reviewer.post(f"proposals/{code}/rollback", body).json()["status"] == "rolled_back"


def test_a_rule_of_one_company_does_not_bind_another(rival, rival_writer, acme, runtime, agent):
    create_protection_rule(
        fields={"pattern": "memory/**", "level": "block", "company": acme}, actor=SYSTEM, now=timezone.now()
    )
    assert runtime.draft(agent, NOTE)["status"] == "blocked"
    other = make_agent(rival, name="b")
    answer = rival_writer.post("proposals", {"agent": other.pk, "items": [NOTE]}).json()
    assert answer["status"] == "pending"


def test_the_defaults_are_the_nine_of_the_rules(db):
    stored = {
        (row.pattern, row.section, tuple(row.section_aliases), row.level, row.enabled)
        for row in ProtectedPath.objects.filter(company=None)
    }
    assert stored == {
        (rule.pattern, rule.section, rule.aliases, rule.level, True) for rule in protection.DEFAULT_RULES
    }
