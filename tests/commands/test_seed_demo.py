"""`seed_demo`: the demo data come once, as people and runtimes would have made them, and somebody can get in."""

import re
import shlex
import stat

import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError
from django.test import Client
from django.utils import timezone

from agents.models import Agent, AgentVersion, Document
from agents.services.agents import delete_agent
from common.companies.models import ApiKey, Company
from common.companies.services import revoke_api_key
from common.receipts.models import Receipt
from config.demo.content import COMPANIES, PEOPLE, demo_agents
from config.management.commands.seed_demo import DEMO_PASSWORD
from evolution.knowledge.models import Knowledge
from evolution.lessons.models import Lesson
from evolution.proposals.models import Proposal, ProposalItem
from experiences.models import Experience
from tests.commands.calls import lines, run
from tests.factories import SYSTEM, ApiClient, an_edit, make_company, make_person

pytestmark = pytest.mark.django_db
TABLES = (
    Agent,
    AgentVersion,
    ApiKey,
    Company,
    Document,
    Experience,
    Lesson,
    Proposal,
    Receipt,
    get_user_model(),
)


@pytest.fixture(autouse=True)
def own_folder(settings, tmp_path):
    settings.VAR_DIR = tmp_path
    return tmp_path


def counts():
    return {table.__name__: table.objects.count() for table in TABLES}


def printed_key(text):
    return re.search(r"Bearer (fb_\S+?)'", text)[1]


def test_it_brings_both_languages_shared_agents_and_rows_that_are_off():
    assert run("seed_demo").startswith("demo data: companies 2 people 5 agents 7 ")
    assert set(Company.objects.values_list("slug", flat=True)) == {"_global", *COMPANIES}
    for slug, languages in {"yunling": {"zh"}, "harbor": {"en"}, "_global": {"zh", "en"}}.items():
        agents = Agent.objects.filter(company__slug=slug)
        assert set(agents.values_list("language", flat=True)) == languages
        rows = Experience.objects.filter(agent__in=agents)
        assert set(rows.values_list("enabled", flat=True)) == {True, False}
    kinds = {"principles", "persona", "agent_json", "skill", "memory", "guidance"}
    assert kinds <= set(Document.objects.values_list("kind", flat=True))


def test_the_stored_rows_are_those_of_the_files_in_their_order():
    run("seed_demo")
    for agent in demo_agents():
        stored = Agent.objects.get(company__slug=agent.company, name=agent.fields["name"])
        # The demo's applied proposal added a row of its own behind them.
        rows = tuple(stored.experiences.values_list("content", "enabled"))
        assert rows[: len(agent.rows)] == agent.rows
        assert stored.documents.count() == len(agent.documents)


def test_the_review_queue_holds_something_of_every_kind():
    run("seed_demo")
    found = Proposal.objects.values_list("company__slug", "status", "risk")
    assert sorted(found) == [
        ("harbor", "applied", "medium"),
        ("harbor", "blocked", "forbidden"),
        ("harbor", "pending", "medium"),
        ("yunling", "pending", "high"),
        ("yunling", "pending", "low"),
        ("yunling", "rolled_back", "medium"),
    ]
    (conflict,) = ProposalItem.objects.get(proposal__status="pending", proposal__risk="medium").conflicts
    assert conflict["kind"] == "contradiction"


def test_the_example_lessons_are_those_of_one_company():
    run("seed_demo")
    found = Lesson.objects.values_list("company__slug", "number", "status")
    assert sorted(found) == [("yunling", 1, "active"), ("yunling", 2, "active")]


def test_the_example_knowledge_waits_was_used_and_misled():
    run("seed_demo")
    found = Knowledge.objects.values_list("status", "category")
    assert sorted(found) == [
        ("active", "debugging"),
        ("active", "workflow"),
        ("deprecated", "debugging"),
        ("draft", "anti-pattern"),
        ("draft", "debugging"),
        ("draft", "tooling"),
    ]


def test_without_somebody_who_may_decide_only_the_undecided_proposals_come():
    make_person("approver", role="Viewer")
    run("seed_demo")
    assert set(Proposal.objects.values_list("status", flat=True)) == {"pending", "blocked"}


def test_a_second_run_adds_nothing():
    run("seed_demo", "--print-access")
    before = counts()
    assert lines("seed_demo", "--print-access")[0] == "The demo data are there already."
    assert counts() == before


def test_what_somebody_deleted_does_not_come_back():
    run("seed_demo")
    agent = Agent.objects.get(name="Plain Writer")
    delete_agent(agent_id=agent.pk, edit=an_edit())
    run("seed_demo")
    assert Agent.objects.live().count() == 6


def test_every_role_can_sign_in_and_is_printed():
    text = run("seed_demo", "--print-access")
    for person in PEOPLE:
        assert re.search(rf"^  {person.username} +{DEMO_PASSWORD}", text, re.MULTILINE)
        assert Client().login(username=person.username, password=DEMO_PASSWORD)
    roles = get_user_model().objects.exclude(groups=None).values_list("username", "groups__name")
    assert dict(roles) == {p.username: p.role for p in PEOPLE if p.role}


def test_a_changed_password_is_not_printed():
    run("seed_demo")
    person = get_user_model().objects.get(username="editor")
    person.set_password("changed-since")
    person.save()
    text = run("seed_demo", "--print-access")
    assert "  editor " not in text and "  viewer " in text


def test_the_printed_curl_asks_for_a_prompt_with_a_key_that_works():
    text = run("seed_demo", "--print-access", "--base-url", "http://127.0.0.1:9123/")
    assert "http://127.0.0.1:9123/admin/" in text
    (command,) = [line for line in text.split("\n") if line.strip().startswith("curl ")]
    path = shlex.split(command)[-1].removeprefix("http://127.0.0.1:9123")
    answer = ApiClient(printed_key(text)).get(path, accept="text/plain")
    assert answer.status_code == 200
    assert "## 最佳实践经验" in answer.content.decode()


def test_the_address_may_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("FIELDBOOK_URL", "https://demo.example")
    assert "https://demo.example/admin/" in run("seed_demo", "--print-access")


def test_the_key_is_the_same_at_every_start_and_only_its_owner_can_read_it(own_folder):
    first, second = (printed_key(run("seed_demo", "--print-access")) for _ in range(2))
    assert first == second == (own_folder / "demo-key").read_text().strip()
    assert stat.S_IMODE((own_folder / "demo-key").stat().st_mode) == 0o600
    assert ApiKey.objects.get().scopes == ["read"]


def test_a_lost_key_is_replaced_and_no_longer_works(own_folder):
    lost = printed_key(run("seed_demo", "--print-access"))
    (own_folder / "demo-key").unlink()
    found = printed_key(run("seed_demo", "--print-access"))
    assert ApiClient(lost).get("me").status_code == 401
    assert ApiClient(found).get("me").status_code == 200


@pytest.mark.parametrize("spoil", ["revoked", "garbage"])
def test_a_key_that_does_not_work_is_replaced(own_folder, spoil):
    old = printed_key(run("seed_demo", "--print-access"))
    if spoil == "revoked":
        revoke_api_key(key_id=ApiKey.objects.get().pk, actor=SYSTEM, now=timezone.now())
    else:
        (own_folder / "demo-key").write_text("not a key")
    new = printed_key(run("seed_demo", "--print-access"))
    assert new != old
    assert ApiClient(new).get("me").status_code == 200


def test_people_and_companies_that_exist_keep_what_they_have():
    make_person("editor", role="Viewer")
    run("seed_demo")
    editor = get_user_model().objects.get(username="editor")
    assert editor.check_password("editor")
    assert [group.name for group in editor.groups.all()] == ["Viewer"]


def test_a_company_of_the_same_name_stops_the_demo_data():
    make_company("harbor")
    assert run("seed_demo") == "The demo data are there already."
    assert not Agent.objects.exists()


def test_a_failure_in_the_middle_leaves_nothing(monkeypatch):
    before = counts()
    monkeypatch.setattr("config.demo.seeding.demo_agents", lambda: [*demo_agents(), None])
    with pytest.raises(AttributeError):
        run("seed_demo")
    assert counts() == before


def test_production_settings_refuse_it(settings):
    settings.PROFILE = "production"
    with pytest.raises(CommandError, match="--force"):
        run("seed_demo")
    assert not Agent.objects.exists()


def test_forced_into_production_it_uses_a_random_password_and_keeps_no_key_text(settings, own_folder):
    settings.PROFILE = "production"
    text = run("seed_demo", "--force", "--print-access")
    assert not Client().login(username="admin", password=DEMO_PASSWORD)
    password = re.search(r"shown this once: (\S+)", text)[1]
    assert Client().login(username="admin", password=password)
    assert list(own_folder.iterdir()) == []


def test_the_shipped_texts_are_whole():
    """A list that the reader could not take in full would silently lose a row."""
    agents = demo_agents()
    assert len(agents) == 7
    assert all(agent.rows and agent.fields["system_prompt"].strip() for agent in agents)
    assert any("\n" in content for agent in agents for content, _enabled in agent.rows)
