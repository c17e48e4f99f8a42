"""Parameters in the admin: seen on one page, changed by a proposal alone."""

import pytest

from evolution.parameters.models import Parameter, ParameterChange
from evolution.parameters.selectors import parameters_of
from evolution.proposals.models import Proposal
from tests.factories import make_company, make_person
from tests.proposals.queue_pages import decide

pytestmark = pytest.mark.django_db
LIST = "/admin/parameters/parameter/"
CHANGES = "/admin/parameters/parameterchange/"
PROPOSE = "/admin/proposals/proposal/parameter/{}/?company=acme"


@pytest.fixture
def editor(acme, client):
    person = make_person("editor", role="Editor", companies=[acme])
    client.force_login(person)
    return client


@pytest.fixture
def chief(acme, client):
    client.force_login(make_person("chief", superuser=True))
    return client


def page(client, url) -> str:
    response = client.get(url)
    assert response.status_code == 200, response.status_code
    return response.content.decode()


def drafted(client, name, value, reason="measured", company="acme"):
    fields = {"value": value, "reason": reason, "company": company}
    return client.post(PROPOSE.format(name), fields)


def status_after_approval(client, proposal) -> str:
    decide(client, proposal, "approve")
    proposal.refresh_from_db()
    return proposal.status


def test_all_parameters_stand_on_one_page_with_a_way_to_propose(editor, acme, django_assert_max_num_queries):
    with django_assert_max_num_queries(20):
        shown = page(editor, LIST)
    for text in (
        "injection_top_k",
        "1 … 20",
        "boosted_categories",
        "-0.15",
        "/parameter/archive_days/?company=acme",
    ):
        assert text in shown


def test_a_viewer_sees_no_way_to_propose(acme, client):
    client.force_login(make_person("v", role="Viewer", companies=[acme]))
    assert "/parameter/archive_days/" not in page(client, LIST)
    assert client.get(PROPOSE.format("archive_days")).status_code == 403


def test_a_value_is_proposed_and_nothing_changes_before_it_is_approved(editor, acme):
    assert "5" in page(editor, PROPOSE.format("injection_top_k"))
    answer = drafted(editor, "injection_top_k", "8")
    proposal = Proposal.objects.get()
    assert answer.url == f"/admin/proposals/proposal/{proposal.pk}/change/"
    assert (proposal.agent, proposal.kind, proposal.status) == (None, "parameter", "pending")
    assert parameters_of(acme.pk).injection_top_k == 5 and not Parameter.objects.exists()
    shown = page(editor, answer.url)
    assert "injection_top_k: 5 → 8" in shown and "measured" in shown


def test_categories_are_ticked(editor, acme):
    drafted(editor, "boosted_categories", ["tooling", "debugging"])
    assert Proposal.objects.get().items.get().new_text == '["debugging", "tooling"]'


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("injection_top_k", "25", "1..20"),
        ("injection_top_k", "many", "1..20"),
        ("decay_rate", "-0.3", "fast_decay_rate"),
        ("injection_top_k", "5", "没有变化"),
    ],
)
def test_what_cannot_be_is_told_on_the_page(editor, name, value, told):
    answer = drafted(editor, name, value)
    assert answer.status_code == 200 and told in answer.content.decode()
    assert not Proposal.objects.exists()


def test_the_same_again_leads_to_the_same_proposal(editor):
    first, second = drafted(editor, "archive_days", "30"), drafted(editor, "archive_days", "30")
    assert first.url == second.url and Proposal.objects.get().seen_count == 2


def test_nobody_proposes_for_a_company_of_others(editor):
    make_company("other")
    answer = drafted(editor, "archive_days", "30", company="other")
    assert answer.status_code == 200 and not Proposal.objects.exists()
    make_company("hidden", name="Hidden works")
    assert "Hidden works" not in page(editor, f"{LIST}?company=hidden")


def test_a_change_is_in_the_history_and_taken_back_by_a_proposal(chief, acme):
    drafted(chief, "injection_top_k", "8")
    assert status_after_approval(chief, Proposal.objects.get()) == "applied"
    change = ParameterChange.objects.get()
    shown = page(chief, f"{CHANGES}{change.pk}/change/")
    assert "5 → 8" in shown and "EP-001" in shown
    assert "EP-001" in page(chief, f"{CHANGES}?parameter=injection_top_k&company=acme")
    assert "8" in page(chief, LIST)
    url = f"/admin/proposals/proposal/take-back/{change.pk}/"
    assert chief.get(url).status_code == 200 and Proposal.objects.count() == 1
    chief.post(url, {"confirmed": "yes"})
    back = Proposal.objects.latest("id")
    assert back.items.get().reverts == change
    assert status_after_approval(chief, back) == "applied"
    assert ParameterChange.objects.latest("id").reverts == change
    assert parameters_of(acme.pk).injection_top_k == 5


@pytest.mark.parametrize("url", [f"{LIST}add/", f"{CHANGES}add/"])
def test_nothing_is_added_by_hand(chief, url):
    assert chief.post(url, {"name": "archive_days", "value": "30"}).status_code == 403
    assert not Parameter.objects.exists() and not ParameterChange.objects.exists()


def test_pages_of_lists_and_reports_show_a_proposal_without_an_agent(chief, acme):
    drafted(chief, "injection_top_k", "8")
    proposal = Proposal.objects.get()
    for url in (
        "/admin/proposals/proposal/",
        "/admin/proposals/proposal/queue/",
        "/admin/proposals/proposal/audit/",
        "/admin/proposals/proposal/health/",
        "/admin/proposals/proposalitem/",
        f"/admin/proposals/proposalitem/{proposal.items.get().pk}/change/",
        f"/admin/proposals/proposal/{proposal.pk}/change/?edit=1",
        "/admin/",
    ):
        page(chief, url)
