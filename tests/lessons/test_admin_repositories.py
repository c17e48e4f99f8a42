"""Repositories in the admin: added and changed with a receipt, read now after a look at what that gives."""

import pytest

from common.receipts.models import Receipt
from evolution.lessons.models import Lesson, Repository
from tests.factories import make_agent
from tests.lessons.git_folders import commit, git

pytestmark = pytest.mark.django_db
ADD = "/admin/lessons/repository/add/"


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "repository"
    path.mkdir()
    git(path, "init", "-q", "-b", "main")
    commit(path, "fix(db): <b>lock</b> held", {"a.py": "x"})
    commit(path, "docs: y", {"b.md": "x"})
    return path


def form(acme, **changes):
    return {
        "company": acme.pk, "name": "app", "path": "", "enabled": "on", "min_severity": "low",
        "churn_threshold": "3", "churn_window_days": "7", "churn_ignore": "*.gen\n\ndocs/", **changes,
    }  # fmt: skip


def change_url(repository):
    return f"/admin/lessons/repository/{repository.pk}/change/"


def seen(client, repository):
    page = client.get(change_url(repository))
    return page.context["adminform"].form.initial | {"seen": page.context["adminform"].form.state()}


def test_a_repository_is_added_and_changed_with_a_receipt(signed_in, administrator, acme, folder):
    client, agent = signed_in(administrator), make_agent(acme)
    assert client.post(ADD, form(acme, path=str(folder), agent=agent.pk)).status_code == 302
    repository = Repository.objects.get()
    assert (repository.company, repository.agent, repository.churn_ignore) == (
        acme,
        agent,
        ["*.gen", "docs/"],
    )
    opened = seen(client, repository)["seen"]
    changed = form(acme, path=str(folder), agent=agent.pk, churn_threshold="5", seen=opened)
    assert client.post(change_url(repository), changed).status_code == 302
    repository.refresh_from_db()
    assert (repository.churn_threshold, repository.name) == (5, "app")
    receipts = Receipt.objects.filter(trigger__startswith="repository_").order_by("pk")
    assert [(receipt.trigger, receipt.detail["fields"]) for receipt in receipts] == [
        ("repository_added", []), ("repository_changed", ["churn_threshold"]),
    ]  # fmt: skip
    stale = client.post(change_url(repository), {**changed, "churn_threshold": "7"})
    assert b"changed this in the meantime" in stale.content
    history = client.get(f"/admin/lessons/repository/{repository.pk}/history/", follow=True)
    assert b"repository changed" in history.content


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"name": " "}, "required"),
        ({"name": "taken"}, "Another repository"),
        ({"path": "relative"}, "whole path"),
        ({"churn_threshold": "1"}, "from 2 to 100"),
        ({"churn_window_days": "91"}, "from 1 to 90"),
        ({"churn_ignore": "x" * 201}, "At most 200 characters"),
        ({"min_severity": "none"}, "Select a valid choice"),
    ],
)
def test_a_faulty_repository_is_refused_beside_the_field(signed_in, administrator, acme, fields, told):
    Repository.objects.create(company=acme, name="taken")
    page = signed_in(administrator).post(ADD, form(acme, **fields))
    assert page.status_code == 200
    assert told in page.content.decode()
    assert Repository.objects.count() == 1


def test_a_path_outside_of_the_named_folders_is_refused(signed_in, administrator, acme, settings, tmp_path):
    settings.LESSONS_REPOSITORY_ROOTS = [str(tmp_path)]
    page = signed_in(administrator).post(ADD, form(acme, path="/etc"))
    assert "LESSONS_REPOSITORY_ROOTS" in page.content.decode()
    assert not Repository.objects.exists()


def test_members_of_another_company_see_no_path(signed_in, stranger, acme):
    repository = Repository.objects.create(company=acme, name="app", path="/secret/place")
    client = signed_in(stranger)
    assert (
        "app" not in client.get("/admin/lessons/repository/").content.decode().split("results", 1)[-1][:200]
    )
    assert client.get(change_url(repository)).status_code == 404
    assert client.get(f"/admin/lessons/repository/{repository.pk}/read/").status_code == 404


def test_reading_now_shows_first_what_it_gives(signed_in, administrator, acme, folder):
    repository = Repository.objects.create(company=acme, name="app", path=str(folder))
    client, url = signed_in(administrator), f"/admin/lessons/repository/{repository.pk}/read/"
    preview = client.get(url).content.decode()
    assert "&lt;b&gt;lock&lt;/b&gt; held" in preview
    assert "Commits read: 2. Drafts made: 1." in preview
    repository.refresh_from_db()
    assert (Lesson.objects.count(), repository.last_report) == (0, {})
    done = client.post(url, {"confirmed": "yes"}, follow=True).content.decode()
    assert "Commits read: 2. Drafts made: 1. Drafts: commit 1. Left out: type docs 1." in done
    assert Lesson.objects.get().created_by == "administrator"
    chinese = signed_in(administrator, "zh-hans").get(change_url(repository)).content.decode()
    assert "读取了 2 个提交，生成 1 条草稿" in chinese


def test_what_cannot_be_read_is_told_on_the_page(signed_in, administrator, acme, tmp_path):
    repository = Repository.objects.create(company=acme, name="app", path=str(tmp_path))
    client, url = signed_in(administrator), f"/admin/lessons/repository/{repository.pk}/read/"
    for method in (client.get, client.post):
        page = method(url, {"confirmed": "yes"}, follow=True)
        assert "is not a git repository that can be read" in page.content.decode()
    assert Receipt.objects.filter(company=acme).count() == 0
