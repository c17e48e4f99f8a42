"""Gaps close and the next row goes last, whichever rows are deleted and however their keys and orders lie."""

import pytest
from django.utils import timezone

from experiences.models import Experience
from experiences.services import add_experience, delete_experiences
from tests.factories import make_agent

pytestmark = pytest.mark.django_db


def rows(agent):
    return [(row.content, row.order) for row in Experience.objects.of_agent(agent.pk)]


def test_rows_whose_keys_and_orders_lie_crosswise_keep_their_sequence(acme):
    agent = make_agent(acme)
    one, two, _three, _four = Experience.objects.bulk_create(
        Experience(agent=agent, content=f"pk{number}", order=order)
        for number, order in ((1, 1), (2, 0), (3, 2), (4, 3))
    )
    deleted = delete_experiences(agent_id=agent.pk, ids=[one.pk, two.pk], now=timezone.now())
    assert deleted == 2
    assert rows(agent) == [("pk3", 0), ("pk4", 1)]


def test_after_rows_two_and_four_of_five_went_a_new_one_is_last(acme):
    agent = make_agent(acme, rows=list("abcde"))
    ids = [row.pk for row in Experience.objects.of_agent(agent.pk) if row.content in "bd"]
    delete_experiences(agent_id=agent.pk, ids=ids, now=timezone.now())
    add_experience(agent_id=agent.pk, content="new", now=timezone.now())
    assert rows(agent) == [("a", 0), ("c", 1), ("e", 2), ("new", 3)]


def test_rows_of_another_agent_are_not_deleted_with_them(acme):
    mine, other = make_agent(acme, rows=["a"]), make_agent(acme, rows=["b"])
    foreign = other.experiences.get().pk
    assert delete_experiences(agent_id=mine.pk, ids=[foreign], now=timezone.now()) == 0
    assert rows(other) == [("b", 0)]
