"""Several workers at the git mirror: each change is one commit, in the order of the receipts."""

import os
import subprocess

import pytest
from django.utils import timezone

from common.actors import Actor, Channel
from evolution.proposals.models import GitMirrorCommit
from evolution.proposals.services.applying import approve_and_apply
from evolution.proposals.services.deciding import Decision
from evolution.proposals.services.drafting import Draft, ItemDraft, draft_proposal
from evolution.proposals.services.mirror import mirror_one, mirror_pending
from tests.factories import SYSTEM, make_agent, make_company, make_person
from tests.races.threads import RACE, in_threads

pytestmark = RACE
CHANGES = 6


@pytest.fixture
def waiting(settings, tmp_path):
    """The folder of an agent with applied changes that wait for their commits."""
    settings.AGENTS_GIT_ROOT = str(tmp_path)
    acme = make_company("acme")
    person = make_person("p", superuser=True)
    actor = Actor("p", Channel.API, user_id=person.pk)
    agent = make_agent(acme, name="a")
    for number in range(CHANGES):
        item = ItemDraft("knowledge", f"punkt {number}", "memory/x.md", "update")
        draft = Draft(kind="learning", trigger="manual", items=[item])
        made = draft_proposal(company=acme, agent=agent, draft=draft, actor=SYSTEM, now=timezone.now())
        approve_and_apply(
            proposal_id=made.proposal.pk, decision=Decision(actor, timezone.now()), applies=True
        )
    return tmp_path / "acme" / f"agent-{agent.pk}"


def subjects(folder):
    command = ["git", "-c", f"safe.directory={folder}", "log", "--reverse", "--format=%s"]
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
    done = subprocess.run(command, cwd=folder, capture_output=True, check=True, env=environment)
    return [line for line in done.stdout.decode().splitlines() if not line.startswith("sync")]


def in_order(folder):
    assert subjects(folder) == [f"learn(knowledge): punkt {number}" for number in range(CHANGES)]
    assert set(GitMirrorCommit.objects.values_list("status", flat=True)) == {"done"}
    assert len(set(GitMirrorCommit.objects.values_list("sha", flat=True))) == CHANGES


def test_two_sweepers_at_once_commit_each_change_once(waiting):
    done = in_threads(2, lambda number: mirror_pending(now=timezone.now()))
    assert sum(done) == CHANGES
    in_order(waiting)


def test_workers_that_come_out_of_turn_keep_the_order(waiting):
    rows = list(GitMirrorCommit.objects.order_by("-receipt_id").values_list("pk", flat=True))
    in_threads(CHANGES, lambda number: mirror_one(commit_id=rows[number], now=timezone.now()))
    mirror_pending(now=timezone.now())
    in_order(waiting)
