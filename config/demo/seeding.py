"""Add the demo data, once, through the services that people and runtimes use."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db import transaction

from agents.choices import Source
from agents.services.agents import create_agent
from agents.services.editing import Edit
from agents.services.rows import switch_rows
from common.accounts.models import User
from common.accounts.services import save_person
from common.actors import Actor, Channel, command_actor
from common.choices import GLOBAL_SLUG
from common.companies.models import Company
from common.companies.services import save_company
from config.demo.content import COMPANIES, EDITOR, OWNER, PEOPLE, YUNLING, DemoAgent, DemoPerson, demo_agents
from config.demo.knowledge import add_demo_knowledge
from config.demo.proposals import add_proposals
from evolution.lessons.services.seeding import seed_lessons
from experiences.rules import RowInput

ACTOR = command_actor("seed_demo")


@dataclass(frozen=True)
class Added:
    """How much was added; all 0 when the demo data were there already."""

    companies: int = 0
    people: int = 0
    agents: int = 0
    experiences: int = 0
    documents: int = 0
    proposals: int = 0
    lessons: int = 0
    knowledge: int = 0


def is_seeded() -> bool:
    """Whether the demo data were added before, even if some of it was changed or deleted since."""
    return Company.objects.filter(slug__in=COMPANIES).exists()


@transaction.atomic
def seed_demo(*, password: str, now: datetime) -> Added:
    """Add companies, people, agents and what they learnt: all or nothing, and nothing when it was added before.

    People with a demo name who exist already keep their account as it is.
    """
    if is_seeded():
        return Added()
    companies = {
        slug: save_company(company=Company(slug=slug, name=name), actor=ACTOR, now=now)
        for slug, name in COMPANIES.items()
    }
    companies[GLOBAL_SLUG] = Company.objects.get(slug=GLOBAL_SLUG)
    before = get_user_model().objects.count()
    people = _add_people(companies, password, now)
    agents = demo_agents()
    for agent in agents:
        _add_agent(agent, companies[agent.company], people, now)
    return Added(
        companies=len(COMPANIES),
        people=get_user_model().objects.count() - before,
        agents=len(agents),
        experiences=sum(len(agent.rows) for agent in agents),
        documents=sum(len(agent.documents) for agent in agents),
        proposals=add_proposals(people, ACTOR, now),
        lessons=seed_lessons(company=companies[YUNLING], actor=ACTOR, now=now).imported,
        knowledge=add_demo_knowledge(people, ACTOR, now),
    )


def _add_people(companies: dict[str, Company], password: str, now: datetime) -> dict[str, User]:
    model = get_user_model()
    people = {person.username: person for person in model.objects.filter(is_active=True)}
    manager: User | None = None
    for wanted in PEOPLE:
        if wanted.username not in people and not model.objects.filter(username=wanted.username).exists():
            new = model(username=wanted.username, first_name=wanted.name, is_staff=True)
            new.is_superuser = not wanted.role
            new.set_password(password)
            manager = manager or _manager(new)
            people[wanted.username] = save_person(
                person=new, manager=manager, actor=ACTOR, now=now, **_place(wanted, companies)
            )
    return people


def _manager(first: User) -> User:
    """Whoever may make people: a superuser that exists, else the first demo person, who is one."""
    return get_user_model().objects.filter(is_superuser=True, is_active=True).first() or first


def _place(person: DemoPerson, companies: dict[str, Company]) -> dict[str, list[int]]:
    return {
        "role_ids": list(Group.objects.filter(name=person.role).values_list("pk", flat=True)),
        "company_ids": [companies[slug].pk for slug in person.companies],
    }


def _add_agent(agent: DemoAgent, company: Company, people: dict[str, User], now: datetime) -> None:
    edit = Edit(actor=ACTOR, now=now, source=Source.IMPORT, message="Demo data")
    owner = people.get(OWNER)
    made = create_agent(
        company=company,
        fields={**agent.fields, "owner_id": owner.pk if owner and owner.is_staff else None},
        rows=[RowInput(content=content) for content, _enabled in agent.rows],
        documents=agent.documents,
        edit=edit,
    )
    off = [content for content, enabled in agent.rows if not enabled]
    if off:
        # A second version, so that the history has something to show and to undo.
        rows = made.experiences.filter(content__in=off).values_list("pk", flat=True)
        switch_rows(row_ids=list(rows), enabled=False, edit=_later_edit(people, now))


def _later_edit(people: dict[str, User], now: datetime) -> Edit:
    editor = people.get(EDITOR)
    actor = Actor(EDITOR, Channel.ADMIN, user_id=editor.pk) if editor else ACTOR
    return Edit(actor=actor, now=now, source=Source.ADMIN, message="No longer needed")
