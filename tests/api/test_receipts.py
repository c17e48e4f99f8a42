"""Receipts over REST: list, detail, export, verify; each company its own chain."""

import json

import pytest
import yaml
from django.db import connection
from django.utils import timezone

from common.receipts.models import Receipt
from common.receipts.rules import Line
from common.receipts.services import write_receipt
from tests.conftest import append_only_lifted
from tests.factories import SYSTEM, ApiClient, make_agent, make_key

pytestmark = pytest.mark.django_db


@pytest.fixture
def learned(acme):
    """A receipt of three decided items."""
    agent = make_agent(acme, name="ops")
    return write_receipt(
        company=acme,
        actor=SYSTEM,
        type="self-evolution",
        trigger="session_finalize",
        at=timezone.now(),
        agent_id=agent.pk,
        agent_name=agent.name,
        lines=[
            Line(
                type="preference",
                target="users/u1/profile.md",
                content="喜欢简短回答",
                risk_level="low",
                document_version=3,
            ),
            Line(
                type="rule",
                target="principles.md",
                status="user_rejected",
                content="always ask",
                rejection_reason="不需要",
            ),
            Line(type="skill", target="skills/x/SKILL.md", status="skipped"),
        ],
        session_analysis={"session_id": "s1", "duration_minutes": 12},
    )


def test_the_list_is_newest_first_and_filtered_by_type_and_agent(reader, acme, learned):
    make_agent(acme, name="other")
    body = reader.get("receipts").json()
    numbers = [row["number"] for row in body["results"]]
    assert numbers == sorted(numbers, reverse=True)
    assert {row["company"] for row in body["results"]} == {"acme"}
    assert reader.get("receipts?type=self-evolution").json()["count"] == 1
    assert reader.get(f"receipts?agent={learned.agent_id}").json()["count"] == 2
    assert reader.get(f"agents/{learned.agent_id}/receipts?type=change").json()["count"] == 1
    assert reader.get("receipts?agent=999999").json()["count"] == 0


def test_three_items_count_as_they_ended(reader, learned):
    body = reader.get(f"receipts/{learned.pk}").json()
    assert body["totals"] == {
        "total": 3,
        "applied": 1,
        "rejected": 1,
        "skipped": 1,
        "blocked": 0,
        "failed": 0,
        "conflict": 0,
    }
    assert [line["status"] for line in body["lines"]] == ["applied", "user_rejected", "skipped"]
    assert body["lines"][0]["content"] == "喜欢简短回答"
    assert body["lines"][1]["rejection_reason"] == "不需要"


@pytest.mark.parametrize("shape", ["yaml", "json"])
def test_the_export_has_the_documented_shape(reader, learned, shape):
    answer = reader.get(f"receipts/{learned.pk}?format={shape}")
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith(f"application/{shape}")
    text = answer.content.decode()
    assert "喜欢简短回答" in text
    body = yaml.safe_load(text) if shape == "yaml" else json.loads(text)
    assert list(body) == ["receipt"]
    receipt = body["receipt"]
    assert list(receipt) == ["type", "timestamp", "trigger", "session_analysis", "learning_items", "metadata"]
    assert receipt["metadata"] == {"total": 3, "applied": 1, "rejected": 1, "skipped": 1}
    assert receipt["session_analysis"]["session_id"] == "s1"
    first = receipt["learning_items"][0]
    assert (first["risk_level"], first["version"], first["rejection_reason"]) == ("low", 3, None)


def test_another_format_is_refused(reader, learned):
    answer = reader.get(f"receipts/{learned.pk}?format=pdf")
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (400, "/format")


def test_receipts_of_another_company_do_not_exist(rival_writer, reader, learned):
    for query in ("", "?format=yaml", "?format=json"):
        foreign = rival_writer.get(f"receipts/{learned.pk}{query}")
        absent = rival_writer.get(f"receipts/{learned.pk + 10_000}{query}")
        assert foreign.status_code == absent.status_code == 404
        assert {**foreign.json(), "instance": ""} == {**absent.json(), "instance": ""}
    assert rival_writer.get(f"receipts?agent={learned.agent_id}").json()["count"] == 0
    assert rival_writer.get(f"agents/{learned.agent_id}/receipts").status_code == 404


def test_receipts_outlive_their_agent(writer, learned):
    assert writer.delete(f"agents/{learned.agent_id}").status_code == 204
    assert writer.get(f"agents/{learned.agent_id}/receipts").status_code == 404
    listed = writer.get(f"receipts?agent={learned.agent_id}").json()["results"]
    assert [row["agent_name"] for row in listed] == ["ops"] * 3
    assert writer.get("receipts/verify").json()["intact"] is True


def test_a_change_through_a_shared_agent_is_receipted_in_the_own_chain(writer, global_company, acme):
    shared = make_agent(global_company)
    writer.put(f"agents/{shared.pk}/documents", {"path": "users/u1/profile.md", "text": "x"})
    listed = writer.get(f"agents/{shared.pk}/receipts").json()["results"]
    assert [(row["company"], row["trigger"]) for row in listed] == [("acme", "document_changed")]
    home = ApiClient(make_key(global_company, scopes=["read"]))
    listed = home.get(f"agents/{shared.pk}/receipts").json()["results"]
    assert [row["trigger"] for row in listed] == ["agent_created"]


def test_verify_names_the_first_broken_link(reader, acme, learned):
    whole = reader.get("receipts/verify").json()
    assert (whole["company"], whole["intact"], whole["first_bad"]) == ("acme", True, None)
    assert whole["checked"] == Receipt.objects.filter(company=acme).count()
    with append_only_lifted(), connection.cursor() as cursor:
        line = learned.lines.get(status="user_rejected")
        cursor.execute("UPDATE receipts_receiptline SET status = 'applied' WHERE id = %s", [line.pk])
    broken = reader.get("receipts/verify").json()
    assert (broken["intact"], broken["first_bad"]) == (False, learned.number)
    assert broken["reason"]


def test_the_order_of_receipts_of_one_moment_is_stable(reader, acme):
    now = timezone.now()
    for _ in range(7):
        write_receipt(company=acme, actor=SYSTEM, type="change", trigger="t", at=now)
    seen = []
    for page in (1, 2, 3):
        seen += [row["id"] for row in reader.get(f"receipts?page={page}&page_size=3").json()["results"]]
    assert len(seen) == len(set(seen)) == Receipt.objects.filter(company=acme).count()


def test_staff_see_receipts_of_keys_only_with_the_right_to_see_keys(signed_in, viewer, administrator, acme):
    make_key(acme, scopes=["read"], name="runtime")
    seen = {
        person.username: [
            row["trigger"] for row in signed_in(person).get("/api/v1/receipts?company=acme").json()["results"]
        ]
        for person in (viewer, administrator)
    }
    assert seen == {"viewer": [], "administrator": ["api_key_issued"]}
