"""Orders of one agent's rows are 0..n-1 whatever happens at once, and a move never takes back an edit."""

import random
import time

import pytest
from django.db import models

from agents.services.rows import add_row, change_row, delete_row
from experiences.models import Experience
from tests.factories import ApiClient, an_edit, make_agent, make_company, make_key
from tests.races.threads import RACE, in_threads
from tests.sizes import sized

pytestmark = RACE


@pytest.fixture
def acme():
    return make_company("acme")


def orders(agent):
    return list(Experience.objects.of_agent(agent.pk).values_list("order", flat=True))


def move(agent, row_id, **changes):
    return change_row(agent_id=agent.pk, row_id=row_id, changes=changes, edit=an_edit())


def test_creates_moves_and_deletes_at_once_leave_no_gap_and_no_tie(acme):
    agent = make_agent(acme, rows=["seed"])

    def work(number):
        dice, mine = random.Random(number), []
        for turn in range(sized(5, 30)):
            row = add_row(
                agent_id=agent.pk,
                content=f"{number}-{turn}",
                edit=an_edit(),
                position=dice.choice([None, 0, 3]),
            )
            mine.append(row.pk)
            change_row(
                agent_id=agent.pk,
                row_id=dice.choice(mine),
                changes={"sort_order": dice.randrange(50)},
                edit=an_edit(),
            )
            if turn % 3 == 2:
                delete_row(agent_id=agent.pk, row_id=mine.pop(dice.randrange(len(mine))), edit=an_edit())
        return len(mine)

    left = sum(in_threads(10, work))
    assert orders(agent) == list(range(left + 1))


def test_twenty_posts_and_moves_to_the_top_on_five_rows(acme):
    agent = make_agent(acme, rows=list("abcde"))
    rows = list(Experience.objects.of_agent(agent.pk))
    key = make_key(acme, scopes=["agents:write"])

    def work(number):
        client = ApiClient(key)
        if number % 2:
            return client.post(f"agents/{agent.pk}/experiences", {"content": f"new {number}"}).status_code
        row = rows[number // 2 % 5]
        return client.patch(f"agents/{agent.pk}/experiences/{row.pk}", {"sort_order": 0}).status_code

    assert set(in_threads(20, work)) <= {200, 201}
    assert orders(agent) == list(range(15))


def test_without_the_lock_of_the_agent_orders_collide(acme):
    """Control: counting the rows, then adding one, as the library does on its own."""
    agent = make_agent(acme)

    def work(number):
        for turn in range(3):
            order = Experience.objects.filter(agent=agent).count()
            time.sleep(0.01)
            models.QuerySet(Experience).create(agent=agent, content=f"{number}-{turn}", order=order)

    in_threads(8, work)
    assert len(set(orders(agent))) < 24


def test_an_edit_and_a_move_at_once_are_both_kept(acme):
    agent = make_agent(acme, rows=["a", "b", "c", "d"])
    row = Experience.objects.of_agent(agent.pk).first()
    for turn in range(sized(20, 200)):
        changes = [{"content": f"edit {turn}"}, {"sort_order": turn % 4}, {"enabled": turn % 2 == 0}]
        in_threads(3, lambda number, wanted=changes: move(agent, row.pk, **wanted[number]))
        row.refresh_from_db()
        assert (row.content, row.order, row.enabled) == (f"edit {turn}", turn % 4, turn % 2 == 0)
        assert orders(agent) == [0, 1, 2, 3]


def test_the_librarys_own_move_takes_an_edit_back(acme):
    """Control: a stale row that moves by itself saves every column."""
    agent = make_agent(acme, rows=["a", "b"])
    stale = Experience.objects.of_agent(agent.pk).first()
    Experience.objects.filter(pk=stale.pk).update(content="edited")
    stale.down()
    stale.refresh_from_db()
    assert stale.content == "a"
