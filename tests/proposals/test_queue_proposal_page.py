"""The page of one proposal: its record, and the buttons that its state and the person's permissions allow."""

import pytest

from agents.models import DocumentVersion
from common.receipts.selectors import verify_chain
from evolution.proposals.models import GitMirrorCommit, Proposal
from tests.admin.pages import save, shown_messages
from tests.factories import make_agent
from tests.proposals.queue_pages import LIST, NOTE, RULE, decide, edit, numbered, page_of, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent(acme):
    documents = [("principles.md", "# P\n\n## 绝不做\n\n- x\n"), ("memory/notes.md", "# Notes\n\n- one\n")]
    return make_agent(acme, name="运维", documents=documents)


@pytest.fixture
def client(signed_in, approver):
    return signed_in(approver)


@pytest.fixture
def proposal(runtime, agent):
    runtime.draft(agent, NOTE | {"content": "two"}, title="a note")
    return numbered("EP-001")


def do(client, proposal, verb, **fields):
    return client.post(f"{LIST}{proposal.pk}/{verb}/", {"confirmed": "yes", **fields})


def buttons(client, proposal):
    return [verb.slug for verb, _url in client.get(page_of(proposal)).context["buttons"]]


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("draft", ["submit", "discard"]),
        ("pending", []),
        ("approved", ["apply"]),
        ("applied", ["rollback"]),
        ("conflict", ["repropose"]),
        ("failed", ["repropose"]),
        ("blocked", ["repropose"]),
        ("rejected", []),
        ("skipped", []),
        ("expired", []),
        ("rolled_back", []),
    ],
)
def test_the_buttons_follow_the_state(client, signed_in, viewer, proposal, status, expected):
    Proposal.objects.update(status=status)
    assert buttons(client, proposal) == expected
    assert buttons(signed_in(viewer), proposal) == []


def test_a_verb_in_the_wrong_state_is_refused_with_a_message(client, proposal):
    answer = do(client, proposal, "apply")
    assert answer.status_code == 302 and "it cannot be applied now" in shown_messages(answer)[-1]


def test_an_approved_proposal_is_applied_after_a_confirmation(
    client, signed_in, approver_only, proposal, agent
):
    decide(signed_in(approver_only.person), proposal, "approve")
    page = client.get(f"{LIST}{proposal.pk}/apply/")
    assert "or nothing is" in text_of(page) and numbered("EP-001").status == "approved"
    answer = do(client, proposal, "apply")
    assert shown_messages(answer)[-1] == "EP-001 applied: version 2 of memory/notes.md."
    again = do(client, proposal, "apply")
    assert "it cannot be applied now" in shown_messages(again)[-1]


def test_rolling_back_takes_a_reason_and_brings_the_old_text_back(client, proposal, agent, acme):
    decide(client, proposal, "approve")
    assert "Say why" in shown_messages(do(client, proposal, "rollback"))[-1]
    answer = do(client, proposal, "rollback", reason="not needed")
    assert "EP-001 rolled back" in shown_messages(answer)[-1]
    assert DocumentVersion.objects.latest("pk").text == "# Notes\n\n- one\n"
    assert verify_chain(acme).intact


def test_the_page_keeps_the_record(client, proposal):
    decide(client, proposal, "approve")
    do(client, proposal, "rollback", reason="not needed")
    page = client.get(page_of(proposal))
    text = text_of(page)
    assert [receipt.trigger for receipt, _what, _url in page.context["receipts"]] == [
        "proposal_applied",
        "proposal_rolled_back",
    ]
    assert [version.number for version, _path, _url in page.context["versions"]] == [2, 3]
    assert '<td>approver</td><td class="fieldbook-text">not needed</td>' in text
    assert "Every protection check of this proposal" in text
    for _receipt, _what, url in page.context["receipts"]:
        assert client.get(url).status_code == 200


def test_a_conflict_says_what_went_wrong_and_is_proposed_again(
    client, signed_in, approver_only, writer, proposal, agent
):
    decide(signed_in(approver_only.person), proposal, "approve")
    writer.put(f"agents/{agent.pk}/documents", {"path": "memory/notes.md", "text": "meanwhile\n"})
    told = shown_messages(do(client, proposal, "apply"))[-1]
    assert "nothing was written" in told
    text = text_of(client.get(page_of(proposal)))
    assert "What went wrong" in text and "no longer the text on which this was approved" in text
    do(client, proposal, "repropose")
    assert numbered("EP-001").status == "pending"
    assert "+- two" in proposal.items.get().diff


def test_a_blocked_proposal_explains_itself(client, runtime, agent):
    runtime.draft(agent, RULE | {"new_text": "# P\n\n## 少做\n\n- x\n"})
    proposal = numbered("EP-001")
    assert proposal.status == "blocked"
    assert "Why this is blocked" in text_of(client.get(page_of(proposal)))


def test_a_draft_waits_for_its_content(client, signed_in, administrator, runtime, agent, proposal):
    Proposal.objects.update(status="draft", needs_content=True)
    admin = signed_in(administrator)
    assert "Say first what is to be written" in shown_messages(do(admin, proposal, "submit"))[-1]
    sent = {"content": "said", "version": numbered("EP-001").version, "page": "yes"}
    answer = admin.post(f"{LIST}queue/{proposal.pk}/edit/1/", sent)
    assert answer.url == page_of(proposal)
    do(admin, proposal, "submit")
    assert numbered("EP-001").status == "pending"


def test_what_was_taught_without_content_is_said_on_its_page(signed_in, administrator, runtime, agent):
    runtime.post("teachings", {"agent": agent.pk, "user_id": "u1", "text": "记住这个"})
    draft, admin = numbered("EP-001"), signed_in(administrator)
    # It has never waited, so it has no place in the queue: neither verb may look for one.
    assert (draft.status, draft.pending_at) == ("draft", None)
    assert admin.post(f"{LIST}queue/{draft.pk}/decide/", {"verb": "approve", "item": "1"}).status_code == 302
    assert numbered("EP-001").status == "draft"
    answer = edit(admin, draft, content="用表格", page="yes")
    assert (answer.status_code, answer.url) == (302, page_of(draft))
    assert numbered("EP-001").status == "pending"


def test_a_draft_is_rejected_with_a_reason(client, proposal):
    Proposal.objects.update(status="draft")
    do(client, proposal, "discard", reason="no")
    assert numbered("EP-001").status == "rejected"


def test_a_failed_mirror_says_what_to_do(client, proposal):
    decide(client, proposal, "approve")
    receipt = client.get(page_of(proposal)).context["receipts"][0][0]
    GitMirrorCommit.objects.create(
        receipt=receipt, proposal=proposal, status="failed", error="read-only folder"
    )
    text = text_of(client.get(page_of(proposal)))
    assert "The git mirror failed" in text and "read-only folder" in text


def test_a_failed_commit_is_retried_by_who_may(client, signed_in, viewer, proposal, tmp_path, settings):
    decide(client, proposal, "approve")
    receipt = client.get(page_of(proposal)).context["receipts"][0][0]
    commit = GitMirrorCommit.objects.create(receipt=receipt, proposal=proposal, status="failed", error="x")
    settings.AGENTS_GIT_ROOT = str(tmp_path)
    url = "/admin/proposals/gitmirrorcommit/"
    sent = {"action": "retry", "_selected_action": commit.pk, "confirmed": "yes"}
    signed_in(viewer).post(url, sent)
    assert GitMirrorCommit.objects.get().status == "failed"
    client.post(url, sent)
    assert GitMirrorCommit.objects.get().status == "done"
    assert (tmp_path / "acme").is_dir()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["EP-001"]),
        ("?status=all", ["EP-002", "EP-001"]),
        ("?status=skipped", ["EP-002"]),
        ("?status=broken", []),
        ("?status=nonsense", []),
        ("?q=ep-001", ["EP-001"]),
        ("?q=two", ["EP-001"]),
        ("?q=three&status=all", ["EP-002"]),
        ("?q=note", ["EP-001"]),
        ("?q=EP-99999999999999999999", []),
        ("?risk__exact=medium", ["EP-001"]),
        ("?risk__exact=high", []),
        ("?source=nobody", []),
    ],
)
def test_the_work_list_shows_what_waits_and_finds_the_rest(client, runtime, agent, proposal, query, expected):
    runtime.draft(agent, NOTE | {"content": "three"}, title="another one")
    Proposal.objects.filter(number=2).update(status="skipped")
    rows = client.get(LIST + query).context["cl"].result_list
    assert [row.code for row in rows] == expected


def test_the_filters_name_no_company_and_no_agent_of_others(signed_in, stranger, proposal):
    text = text_of(signed_in(stranger).get(LIST))
    assert "Acme" not in text and "运维" not in text


ADD = f"{LIST}add/"


def test_a_person_drafts_any_target_by_hand(signed_in, administrator, agent):
    client = signed_in(administrator)
    answer = save(client, ADD, agent=agent.pk, type="behavior_rule", target="principles.md", content="先预发")
    proposal = numbered("EP-001")
    assert answer.url == page_of(proposal)
    assert (proposal.trigger, proposal.risk, proposal.created_by_user) == ("manual", "high", administrator)
    assert "+- 先预发" in proposal.items.get().diff


def test_a_draft_may_bring_the_whole_text(signed_in, administrator, agent):
    save(
        signed_in(administrator),
        ADD,
        agent=agent.pk,
        type="knowledge",
        target="memory/new.md",
        new_text="a\r\nb\r\n",
    )
    assert numbered("EP-001").items.get().new_text == "a\nb\n"


def test_a_faulty_draft_says_so_beside_the_field(signed_in, administrator, agent):
    client = signed_in(administrator)
    answer = save(client, ADD, agent=agent.pk, type="knowledge", target="memory/x.md")
    assert answer.status_code == 200
    assert "Say what is to be written." in str(answer.context["form"].errors["content"])


def test_what_is_known_already_is_shown_instead(signed_in, administrator, agent, proposal):
    answer = save(
        signed_in(administrator),
        ADD,
        agent=agent.pk,
        type="knowledge",
        target="memory/notes.md",
        content="two",
    )
    assert answer.url == page_of(proposal)
    assert "EP-001 says this already" in shown_messages(answer)[-1]
    assert Proposal.objects.count() == 1


def test_a_foreign_agent_or_company_cannot_be_named(signed_in, administrator, rival, agent):
    foreign = make_agent(rival, name="foreign")
    client = signed_in(administrator)
    assert "foreign" not in text_of(client.get(ADD))
    fields = {"type": "knowledge", "target": "memory/x.md", "content": "x"}
    for changes in ({"agent": foreign.pk}, {"agent": agent.pk, "company": rival.pk}):
        assert save(client, ADD, **fields, **changes).status_code == 200
    assert not Proposal.objects.exists()


@pytest.mark.parametrize("person", ["viewer", "approver"])
def test_who_may_not_add_cannot_draft(request, signed_in, agent, person):
    client = signed_in(request.getfixturevalue(person))
    assert client.get(ADD).status_code == 403 and client.post(ADD, {}).status_code == 403


def test_the_agent_page_lists_its_proposals(client, agent, proposal):
    page = text_of(client.get(f"/admin/agents/agent/{agent.pk}/change/"))
    assert page_of(proposal) in page and "a note" in page


def test_a_receipt_leads_to_its_proposal(client, proposal):
    decide(client, proposal, "approve")
    receipt_url = client.get(page_of(proposal)).context["receipts"][0][2]
    text = text_of(client.get(receipt_url))
    assert "Open the proposal EP-001" in text
    rows = client.get(f"{LIST}?status=all&company=acme&q=EP-001").context["cl"].result_list
    assert list(rows) == [proposal]
