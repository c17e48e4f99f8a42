"""What the queue shows: the list in working order, and everything that a decision needs, in words."""

import pytest
from django.test import override_settings

from evolution.proposals.models import Proposal
from tests.factories import ApiClient, make_agent, make_key, make_person
from tests.proposals.queue_pages import (
    LIST,
    NOTE,
    PROFILE,
    QUEUE,
    ROW,
    RULE,
    numbered,
    opened,
    text_of,
    waiting_rows,
)

pytestmark = pytest.mark.django_db
PRINCIPLES = "# 原则\n\n## 规则\n\n- 报告禁止附图\n\n## 绝不做\n\n- 不删数据\n"


@pytest.fixture
def agent(acme):
    documents = [
        ("principles.md", PRINCIPLES),
        ("memory/notes.md", "# Notes\n\n- the office closes at six\n"),
    ]
    return make_agent(acme, name="运维", rows=["先查日志"], documents=documents)


@pytest.fixture
def client(signed_in, approver):
    return signed_in(approver)


def titles(response):
    return [row.title for row, _url, _is_current in response.context["rows"]]


def test_the_riskiest_comes_first_and_then_the_longest_waiting(client, runtime, agent):
    runtime.draft(agent, PROFILE | {"content": "tables"}, title="low")
    runtime.draft(agent, NOTE | {"content": "a"}, title="medium, first")
    runtime.draft(agent, RULE | {"content": "b"}, title="high")
    runtime.draft(agent, NOTE | {"content": "c"}, title="medium, second")
    page = client.get(QUEUE)
    assert titles(page) == ["high", "medium, first", "medium, second", "low"]
    assert page.context["shown"].proposal.title == "high"


def test_next_and_previous_follow_that_order(client, runtime, agent):
    for name in ("one", "two", "three"):
        runtime.draft(agent, NOTE | {"content": name}, title=name)
    two = Proposal.objects.get(title="two")
    page = opened(client, two)
    assert page.context["next_url"].endswith(f"p={Proposal.objects.get(title='three').pk}")
    assert page.context["previous_url"].endswith(f"p={Proposal.objects.get(title='one').pk}")
    assert opened(client, Proposal.objects.get(title="three")).context["next_url"] == ""


def test_a_long_list_is_paged_in_both_directions_without_losing_one(client, acme, agent):
    waiting_rows(acme, agent, 120, risk="low")
    seen, url = set(), QUEUE
    while url:
        page = client.get(url)
        seen |= {row.number for row, _url, _is_current in page.context["rows"]}
        url = page.context["later_url"]
    assert seen == set(range(1, 121))
    back, url = set(), page.context["earlier_url"]
    while url:
        page = client.get(url)
        back |= {row.number for row, _url, _is_current in page.context["rows"]}
        url = page.context["earlier_url"]
    assert min(back) == 1


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("?risk=high", ["rule"]),
        ("?trigger=manual", ["rule", "note", "profile"]),
        ("?trigger=deviation", []),
        ("?source=nobody", []),
        ("?risk=nonsense", ["rule", "note", "profile"]),
        ("?agent=999999", []),
        ("?agent=x", ["rule", "note", "profile"]),
    ],
)
def test_the_list_can_be_narrowed(client, runtime, agent, query, expected):
    runtime.draft(agent, RULE | {"content": "b"}, title="rule")
    runtime.draft(agent, NOTE | {"content": "a"}, title="note")
    runtime.draft(agent, PROFILE | {"content": "c"}, title="profile")
    assert titles(client.get(QUEUE + query)) == expected


def test_the_page_names_who_taught_what_and_why(client, acme, agent):
    key = ApiClient(make_key(acme, scopes=["report"], name="billing runtime"))
    body = {
        "agent": agent.pk,
        "items": [PROFILE | {"content": "tables"}],
        "user_id": "u1",
        "conversation_id": "c-77",
        "rationale": "The user said so.",
    }
    assert key.post("proposals", body).status_code == 201
    text = text_of(client.get(QUEUE))
    for words in ("billing runtime", "u1", "c-77", "The user said so.", "运维", "Acme", "by hand"):
        assert words in text


def test_both_differences_show_every_changed_line(client, runtime, agent):
    runtime.draft(agent, NOTE | {"content": "it opens at nine"})
    side, unified = (text_of(client.get(f"{QUEUE}?view={view}")) for view in ("", "unified"))
    assert "fieldbook-sides" in side and "- it opens at nine" in side
    assert '<span class="line add">+- it opens at nine</span>' in unified and "fieldbook-sides" not in unified


@pytest.mark.parametrize("view", ["", "unified"])
def test_hidden_characters_are_shown_and_named(client, runtime, agent, view):
    runtime.draft(agent, NOTE | {"content": "open\u200b the \U000e0041 door"}, title="safe\u202etitle")
    text = text_of(client.get(f"{QUEUE}?view={view}"))
    assert "[U+200B]" in text and "[U+E0041]" in text and "[U+202E]" in text
    assert "hidden characters" in text
    assert "\u200b" not in text and "\u202e" not in text and "\U000e0041" not in text


def test_texts_of_runtimes_are_text_and_nothing_else(client, runtime, agent):
    attack = '<script>alert(1)</script><img src=x onerror="alert(2)">'
    runtime.draft(agent, NOTE | {"content": attack}, title=attack, rationale=attack, conversation_id=attack)
    proposal = numbered("EP-001")
    for url in (
        QUEUE,
        f"{QUEUE}?view=unified",
        f"{QUEUE}?p={proposal.pk}&edit=1",
        f"{LIST}{proposal.pk}/change/",
    ):
        text = text_of(client.get(url))
        assert "<script>alert" not in text and "<img src=x" not in text
        assert "&lt;script&gt;" in text


def test_a_contradiction_is_shown_with_the_four_choices(client, runtime, agent):
    runtime.draft(agent, RULE | {"content": "报告必须附图"})
    text = text_of(client.get(QUEUE))
    assert "says the opposite" in text and "报告禁止附图" in text
    for choice in ("keep_old", "replace", "keep_both", "drop"):
        assert f'name="choice" value="{choice}"' in text


def test_an_experience_that_is_too_long_says_so_before_anybody_approves(client, runtime, agent):
    runtime.draft(agent, ROW | {"content": "字" * 301})
    assert "Cannot be approved like this" in text_of(client.get(QUEUE))


def test_the_nearest_existing_lines_are_shown(client, runtime, agent):
    runtime.draft(agent, NOTE | {"content": "the office opens at nine and closes at six"})
    nearest = opened(client, numbered("EP-001")).context["shown"].items[0].nearest
    assert [(where, text) for _percent, where, text in nearest] == [
        ("memory/notes.md", "- the office closes at six")
    ]


def test_the_history_of_the_target_is_shown_newest_first(client, runtime, writer, acme, agent):
    for text in ("# Notes\n\n- two\n", "# Notes\n\n- three\n"):
        body = {"path": "memory/notes.md", "text": text}
        assert writer.put(f"agents/{agent.pk}/documents", body).status_code == 200
    runtime.draft(agent, NOTE | {"content": "four"})
    shown = opened(client, numbered("EP-001")).context["shown"].items[0]
    assert [version.number for version in shown.evidence.versions] == [3, 2, 1]


def test_a_target_that_changed_since_is_said_before_the_decision(client, runtime, writer, agent):
    runtime.draft(agent, NOTE | {"content": "four"})
    assert "has changed since" not in text_of(client.get(QUEUE))
    body = {"path": "memory/notes.md", "text": "other\n"}
    assert writer.put(f"agents/{agent.pk}/documents", body).status_code == 200
    text = text_of(client.get(QUEUE))
    assert "The target has changed since this was proposed." in text and "Work it out again" in text


def test_a_blocked_item_says_why_and_where_it_can_be_changed(client, runtime, agent):
    renamed = RULE | {"new_text": PRINCIPLES.replace("## 绝不做", "## 少做")}
    runtime.draft(agent, renamed, NOTE | {"content": "x"}, title="two")
    page = client.get(QUEUE)
    document = agent.documents.get(path="principles.md")
    text = text_of(page)
    assert "Why this is blocked" in text and "It touches a protected part." in text
    assert "principles.md § 绝不做" in text
    assert f"/admin/agents/document/{document.pk}/change/" in text


def test_the_owner_is_named_where_only_the_owner_may_approve(client, runtime, acme, agent):
    agent.owner = make_person("olga", role="Approver", companies=[acme])
    agent.save(update_fields=["owner"])
    runtime.draft(
        agent, {"type": "role", "operation": "update", "target": "system_prompt", "new_text": "Other."}
    )
    assert "owner, olga, can approve this." in text_of(client.get(QUEUE))


def test_a_shared_body_is_explained(client, runtime, global_company):
    shared = make_agent(global_company, name="shared", documents=[("principles.md", "# P\n")])
    runtime.draft(shared, RULE | {"content": "x"}, PROFILE | {"content": "y"})
    assert "shared by all companies" in text_of(client.get(QUEUE))


def test_the_prompt_can_be_compared_before_deciding(client, runtime, agent):
    runtime.draft(
        agent, RULE | {"content": "先预发"}, PROFILE | {"content": "用表格"}, ROW | {"content": "再看监控"}
    )
    page = client.get(f"{QUEUE}?prompt=yes")
    added = {str(line.text) for line in page.context["prompt_lines"] if line.kind == "add"}
    assert {"+- 先预发", "+- 用表格", "+- 再看监控"} <= added


def test_without_a_renderer_the_prompt_is_not_offered(client, runtime, agent):
    runtime.draft(agent, NOTE | {"content": "x"})
    with override_settings(PROMPT_DIFF=""):
        assert "What the prompt would say" not in text_of(client.get(QUEUE)).split("<dialog")[0]


def test_one_who_wrote_a_high_risk_change_is_told_that_somebody_else_must_approve(
    signed_in, runtime, acme, agent
):
    person = make_person("both", role="Administrator", companies=[acme])
    runtime.draft(agent, RULE | {"content": "x"})
    Proposal.objects.update(created_by_user=person)
    assert "somebody else must approve it" in text_of(signed_in(person).get(QUEUE))


def test_an_empty_queue_says_so(client):
    assert "Nothing waits for you." in text_of(client.get(QUEUE))


def test_a_proposal_that_waits_no_longer_leads_back_with_a_message(client, runtime, agent):
    runtime.draft(agent, NOTE | {"content": "x"})
    proposal = numbered("EP-001")
    Proposal.objects.update(status="skipped")
    answer = client.get(f"{QUEUE}?p={proposal.pk}", follow=True)
    assert "EP-001 waits no longer: it is skipped." in text_of(answer)
    assert client.get(f"{QUEUE}?p=nonsense").status_code == 302


def test_sources_are_counted_so_that_a_flood_shows_as_one_line(client, acme, agent):
    waiting_rows(acme, agent, 30, created_by="noisy")
    waiting_rows(acme, agent, 2, created_by="quiet")
    rows = client.get(f"{QUEUE}sources/").context["rows"]
    assert [(source.created_by, source.waiting) for source, _url in rows] == [("noisy", 30), ("quiet", 2)]
    assert set(titles(client.get(rows[1][1]))) == {"proposal 31", "proposal 32"}
