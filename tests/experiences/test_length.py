"""300 code points, held by the database itself, whatever way a row takes into it."""

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from common.errors import ApplicationError
from experiences.models import Experience
from experiences.rules import RowInput, checked_content
from experiences.services import add_experience, change_experience, restore_experiences, sync_experiences
from tests.factories import make_agent

pytestmark = pytest.mark.django_db

FAMILY = "👩‍❤️‍👩"
FITS = {
    "1 ascii": "a",
    "1 中文": "字",
    "1 emoji": "😀",
    "300 ascii": "a" * 300,
    "300 中文": "字" * 300,
    "300 emoji": "😀" * 300,
    "300 joined": FAMILY * 50,
    "300 combining": "e\u0301" * 150,
    "300 with lines": "字" * 150 + "\n" * 50 + "字" * 100,
}
TOO_LONG = {
    "301 ascii": "a" * 301,
    "301 中文": "字" * 301,
    "301 emoji": "😀" * 301,
    "301 joined": FAMILY * 50 + "!",
    "301 combining": "e\u0301" * 150 + "!",
    "1000 ascii": "a" * 1000,
}


@pytest.fixture
def agent(acme):
    return make_agent(acme, rows=["old"])


def raw_insert(agent, content):
    with connection.cursor() as cursor:
        cursor.execute(
            'INSERT INTO experiences_experience (agent_id, content, "order", enabled, created_at, updated_at) '
            "VALUES (%s, %s, 1, %s, %s, %s)",
            [agent.pk, content, True, timezone.now(), timezone.now()],
        )


def raw_update(agent, content):
    with connection.cursor() as cursor:
        cursor.execute("UPDATE experiences_experience SET content = %s", [content])


PAST_THE_RULES = {
    "create": lambda agent, text: Experience.objects.create(agent=agent, content=text, order=1),
    "bulk_create": lambda agent, text: Experience.objects.bulk_create(
        [Experience(agent=agent, content=text)]
    ),
    "update": lambda agent, text: Experience.objects.filter(agent=agent).update(content=text),
    "bulk_update": lambda agent, text: Experience.objects.bulk_update(
        [Experience(pk=agent.experiences.get().pk, content=text)], ["content"]
    ),
    "raw INSERT": raw_insert,
    "raw UPDATE": raw_update,
}


def now():
    return timezone.now()


THROUGH_THE_RULES = {
    "rule": lambda agent, text: checked_content(text),
    "add": lambda agent, text: add_experience(agent_id=agent.pk, content=text, now=now()),
    "change": lambda agent, text: change_experience(
        row=agent.experiences.get(), changes={"content": text}, now=now()
    ),
    "sync": lambda agent, text: sync_experiences(agent_id=agent.pk, rows=[RowInput(content=text)], now=now()),
    "restore": lambda agent, text: restore_experiences(
        agent_id=agent.pk,
        rows=[{"id": agent.experiences.get().pk, "content": text, "enabled": True}],
        now=now(),
    ),
}


@pytest.mark.parametrize("way", PAST_THE_RULES)
@pytest.mark.parametrize("name", FITS)
def test_what_fits_is_stored_past_the_rules_too(agent, way, name):
    PAST_THE_RULES[way](agent, FITS[name])
    assert FITS[name] in Experience.objects.values_list("content", flat=True)


@pytest.mark.parametrize("way", PAST_THE_RULES)
@pytest.mark.parametrize("text", [*TOO_LONG.values(), ""], ids=[*TOO_LONG, "0"])
def test_the_database_refuses_what_does_not_fit(agent, way, text):
    with pytest.raises(IntegrityError), transaction.atomic():
        PAST_THE_RULES[way](agent, text)
    assert agent.experiences.get().content == "old"


@pytest.mark.parametrize("way", THROUGH_THE_RULES)
@pytest.mark.parametrize("name", FITS)
def test_what_fits_passes_every_service(agent, way, name):
    THROUGH_THE_RULES[way](agent, FITS[name])
    if way != "rule":
        assert FITS[name] in Experience.objects.values_list("content", flat=True)


@pytest.mark.parametrize("way", THROUGH_THE_RULES)
@pytest.mark.parametrize("text", [*TOO_LONG.values(), "", " \u200b\n"], ids=[*TOO_LONG, "0", "blank"])
def test_every_service_refuses_with_the_one_code(agent, way, text):
    with pytest.raises(ApplicationError) as refused, transaction.atomic():
        THROUGH_THE_RULES[way](agent, text)
    assert refused.value.code == "AGENT_EXPERIENCE_CONTENT_INVALID"
    assert agent.experiences.get().content == "old"


def test_bulk_create_keeps_the_orders_it_is_given(agent):
    """The library's own would number the rows itself."""
    Experience.objects.bulk_create(
        [Experience(agent=agent, content=str(order), order=order) for order in (7, 5, 6)]
    )
    assert sorted(Experience.objects.values_list("order", flat=True)) == [0, 5, 6, 7]
