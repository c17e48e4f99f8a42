"""Audit, health and the tile of the start page: figures with the rows behind them."""

import csv
import io
import re

import pytest

from evolution.proposals.models import Proposal, ProposalItem
from tests.factories import make_agent
from tests.proposals.queue_pages import LIST, NOTE, PROFILE, ROW, RULE, decide, edit, numbered, text_of

pytestmark = pytest.mark.django_db
AUDIT, HEALTH = f"{LIST}audit/", f"{LIST}health/"


@pytest.fixture
def agent(acme):
    documents = [("memory/notes.md", "# Notes\n"), ("persona.md", "# L0\n\ncore\n")]
    return make_agent(acme, name="运维", rows=["先查日志"], documents=documents)


@pytest.fixture
def client(signed_in, approver):
    return signed_in(approver)


@pytest.fixture
def history(client, runtime, agent):
    """Applied, applied and rolled back, rejected, skipped, and a contradiction that waits."""
    for words in ("a", "b", "c", "d"):
        runtime.draft(agent, NOTE | {"content": words})
    runtime.draft(agent, ROW | {"content": "不要先查日志"})
    decide(client, numbered("EP-001"), "approve")
    edit(client, numbered("EP-002"))
    decide(client, numbered("EP-002"), "approve")
    client.post(f"{LIST}{numbered('EP-002').pk}/rollback/", {"confirmed": "yes", "reason": "r"})
    decide(client, numbered("EP-003"), "reject", reason="no")
    decide(client, numbered("EP-004"), "skip")


def figures(client, query=""):
    page = client.get(HEALTH + query)
    return {shown.figure.key: shown for shown in page.context["figures"]}


def test_each_figure_names_its_parts_its_formula_and_its_health(client, history, acme):
    found = figures(client, f"?company={acme.pk}")
    assert {key: (s.figure.numerator, s.figure.denominator, s.percent) for key, s in found.items()} == {
        "adoption_rate": (2, 3, "66.7 %"),
        "conflict_rate": (1, 5, "20 %"),
        "rollback_rate": (1, 2, "50 %"),
        "personality_stability": (1, 1, "100 %"),
    }
    assert {key: s.figure.healthy for key, s in found.items()} == {
        "adoption_rate": True,
        "conflict_rate": False,
        "rollback_rate": False,
        "personality_stability": True,
    }
    text = text_of(client.get(HEALTH))
    assert "Items rolled back, of all items ever applied." in text and "not healthy" in text


def test_each_figure_leads_to_exactly_the_rows_it_counts(client, history, acme):
    for shown in figures(client, f"?company={acme.pk}").values():
        if shown.url:
            rows = client.get(shown.url).context["cl"].result_list
            assert len(rows) == shown.figure.numerator, shown.figure.key


def test_without_rows_the_figures_say_so(client, acme):
    assert {s.figure.key: s.percent for s in figures(client).values()} == {
        "adoption_rate": "",
        "conflict_rate": "",
        "rollback_rate": "",
        "personality_stability": "",
    }
    assert "n/a" in text_of(client.get(HEALTH))


def test_an_agent_whose_core_was_changed_past_staff_is_named(client, agent):
    from agents.choices import Source
    from agents.services.documents import write_text
    from agents.services.editing import edit_agent
    from tests.factories import an_edit

    save = an_edit(source=Source.ADMIN)
    with edit_agent(agent.pk, save) as locked:
        write_text(
            agent=locked, company=agent.company, path="persona.md", text="# L0\n\nmine\n", edit=save, note=""
        )
    change = an_edit(source=Source.API)
    with edit_agent(agent.pk, change) as locked:
        write_text(
            agent=locked, company=agent.company, path="persona.md", text="# L0\n\nnot\n", edit=change, note=""
        )
    page = client.get(HEALTH)
    assert [str(name) for name, _url in page.context["unstable"]] == ["运维"]


def test_the_audit_lists_what_was_decided_newest_first(client, history, acme):
    rows = client.get(f"{AUDIT}?company={acme.pk}").context["rows"]
    assert sorted((entry.code, entry.status) for entry, _content, _url in rows) == [
        ("EP-001", "applied"),
        ("EP-002", "rolled back"),
        ("EP-003", "rejected"),
        ("EP-004", "skipped"),
    ]
    assert {entry.confirmed_by for entry, _c, _u in rows if entry.code == "EP-001"} == {"approver"}


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("status=applied", 1),
        ("status=nonsense", 0),
        ("since=2000-01-01&until=2999-01-01", 4),
        ("until=2000-01-01", 0),
        ("since=2999-01-01", 0),
        ("since=nonsense", 0),
        ("since=0001-01-01", 0),
        ("until=9999-12-31", 0),
        ("agent=0", 0),
        ("page=99", 4),
        ("page=nonsense", 4),
    ],
)
def test_the_audit_is_narrowed(client, history, acme, query, count):
    answer = client.get(f"{AUDIT}?company={acme.pk}&{query}")
    assert answer.status_code == 200 and len(answer.context["rows"]) == count


def test_the_audit_is_exported_with_inert_cells(client, runtime, acme, agent):
    runtime.draft(agent, NOTE | {"content": "=HYPERLINK(1)"})
    decide(client, numbered("EP-001"), "reject", reason="no")
    answer = client.get(f"{AUDIT}?company={acme.pk}&export=csv")
    table = list(csv.reader(io.StringIO(answer.content.decode("utf-8-sig"))))
    assert len(table) == 2
    assert not any(re.match("[=+@-]", cell) for cell in table[1])


def test_the_items_behind_a_figure_open_their_proposal(client, history):
    page = client.get("/admin/proposals/proposalitem/?state=ever_applied")
    assert f"/admin/proposals/proposal/{numbered('EP-001').pk}/change/#item-1" in text_of(page)
    item = ProposalItem.objects.first()
    assert client.get(f"/admin/proposals/proposalitem/{item.pk}/change/").status_code == 200
    assert (
        client.post(f"/admin/proposals/proposalitem/{item.pk}/change/", {"status": "applied"}).status_code
        == 403
    )


def test_the_start_page_says_what_waits_for_me(client, signed_in, stranger, runtime, agent):
    runtime.draft(agent, RULE | {"content": "x"})
    runtime.draft(agent, PROFILE | {"content": "y"})
    runtime.draft(agent, NOTE | {"content": "z"})
    Proposal.objects.filter(number=3).update(status="approved")
    tile = client.get("/admin/").context["tile"]
    assert tile["waiting"].by_risk == {"high": 1, "low": 1}
    assert (tile["waiting"].approved, tile["waiting"].broken) == (1, 0)
    assert "What waits for me" in text_of(client.get("/admin/"))
    assert signed_in(stranger).get("/admin/").context["tile"]["waiting"].total == 0


def test_the_figures_of_the_start_page_come_without_the_rest(client, agent):
    text = text_of(client.get(f"{HEALTH}?part=figures"))
    assert "Adoption rate" in text and "<html" not in text
    assert "Health of what the agents of Acme learn" in text


def test_a_conflict_is_named_in_the_list_of_items(client, runtime, agent):
    runtime.draft(agent, ROW | {"content": "不要先查日志"})
    runtime.draft(agent, NOTE | {"content": "three"})
    rows = text_of(client.get("/admin/proposals/proposalitem/?conflicts=yes"))
    assert "EP-001" in rows and "EP-002" not in rows and "Acme" in rows
    assert re.search(r"field-has_conflict.*?<span[^>]*>\s*conflict\s*</span>", rows, re.S)
