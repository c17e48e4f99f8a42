"""Every periodic job may be delivered twice: the second time nothing more changes."""

import pytest
from django.utils.module_loading import import_string

from config.schedule import SCHEDULE
from evolution.proposals.models import Proposal
from tests.house.api_world import build
from tests.house.digests import digest_of_everything

pytestmark = pytest.mark.django_db
JOBS = sorted(entry["task"] for entry in SCHEDULE.values())


@pytest.fixture
def world(acme, settings, tmp_path):
    """Something for every job to do: answers to forget, proposals to expire, changes to mirror."""
    settings.AGENTS_GIT_ROOT = str(tmp_path)
    build(acme, "world", drafts=2)
    Proposal.objects.filter(status="pending").update(expires_at="2020-01-01T00:00:00Z")


@pytest.mark.parametrize("name", JOBS)
def test_a_job_that_runs_twice_changes_nothing_more(world, name):
    import_string(name).apply()
    once = digest_of_everything()
    import_string(name).apply()
    assert digest_of_everything() == once


def test_every_job_is_a_task_without_arguments():
    for entry in SCHEDULE.values():
        assert not entry.get("args") and not entry.get("kwargs")
        assert import_string(entry["task"]).name == entry["task"]
