"""What the pages cost: a pinned number of queries, and no more work with 20,000 waiting than with 200."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from common.queues import COUNTED
from evolution.proposals.models import WORK_ORDER, Proposal
from evolution.proposals.selectors import waiting_for
from tests.factories import make_agent
from tests.proposals.queue_pages import LIST, QUEUE, waiting_rows

pytestmark = pytest.mark.django_db
MANY = 20_000
#: Queries of the queue at its start, in its middle, at its end, and of the work list.
APPROVER, CHIEF = [14, 14, 14, 8], [11, 11, 11, 6]


@pytest.fixture
def agent(acme):
    return make_agent(acme, name="busy", rows=["先查日志"], documents=[("memory/3.md", "# three\n")])


def queries_of(client, url):
    client.get(url)  # the first request of a process fills caches
    with CaptureQueriesContext(connection) as caught:
        assert client.get(url).status_code == 200
    return [query["sql"] for query in caught]


@pytest.mark.parametrize("waiting", [200, MANY])
def test_the_pages_cost_the_same_however_many_wait(signed_in, approver, chief, acme, agent, waiting):
    waiting_rows(acme, agent, waiting)
    ordered = Proposal.objects.order_by(*WORK_ORDER).values_list("pk", flat=True)
    middle, end = ordered[waiting // 2], ordered.last()
    urls = [QUEUE, f"{QUEUE}?p={middle}", f"{QUEUE}?p={end}", LIST]
    for person, expected in ((approver, APPROVER), (chief, CHIEF)):
        client = signed_in(person)
        assert [len(queries_of(client, url)) for url in urls] == expected
        assert max(expected) <= 15
        assert client.get(QUEUE).context["queue"].total == min(waiting, COUNTED + 1)


def plan(sql):
    """How the database would find the rows, in its own words."""
    explain = "EXPLAIN QUERY PLAN " if connection.vendor == "sqlite" else "EXPLAIN "
    with connection.cursor() as cursor:
        cursor.execute(explain + sql)
        return "\n".join(" ".join(map(str, row)) for row in cursor.fetchall())


def test_nothing_that_waits_is_sorted_or_counted_as_a_whole(signed_in, approver, chief, acme, agent):
    waiting_rows(acme, agent, MANY)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    for person in (approver, chief):
        client = signed_in(person)
        lists = [sql for url in (QUEUE, LIST, "/admin/") for sql in queries_of(client, url)]
        about = [sql for sql in lists if 'FROM "proposals_proposal"' in sql and "pending" in sql]
        assert len(about) >= 4
        for sql in about:
            found = plan(sql)
            assert "LIMIT" in sql, sql
            assert "TEMP B-TREE FOR ORDER BY" not in found and "Sort" not in found, f"{sql}\n{found}"


def test_what_waits_is_counted_up_to_a_limit(chief, acme, agent):
    waiting_rows(acme, agent, 1500, risk="low")
    assert waiting_for(chief).by_risk == {"low": COUNTED + 1}
    waiting_rows(acme, agent, 3, risk="high")
    assert waiting_for(chief).by_risk == {"high": 3, "low": COUNTED - 2}
