"""The git mirror: each applied change is a commit of exactly what was approved, and never the other way round."""

import os
import subprocess
import threading
from datetime import timedelta
from pathlib import Path

import pytest
import yaml
from django.utils import timezone
from kombu.exceptions import OperationalError

from agents.models import DocumentVersion
from common.receipts.models import Receipt
from common.receipts.selectors import verify_chain
from evolution.proposals import tasks
from evolution.proposals.git import GitError, Repository
from evolution.proposals.models import GitMirrorCommit
from evolution.proposals.services.mirror import MAX_ATTEMPTS, mirror_one, mirror_pending, retry_commit
from tests.factories import SYSTEM, ApiClient, make_agent, make_key
from tests.proposals.conftest import Runtime
from tests.proposals.samples import LESSON, NOTE, PREFERENCE, note, whole

pytestmark = pytest.mark.django_db
NOTES = "# 笔记\r\n\r\n- 一\r\n"


@pytest.fixture
def root(tmp_path, settings):
    settings.AGENTS_GIT_ROOT = str(tmp_path / "mirror")
    return tmp_path / "mirror"


@pytest.fixture
def agent(acme):
    return make_agent(
        acme, name="运维", rows=["eins", ("zwei\nnoch", False)], documents=[("memory/notes.md", NOTES)]
    )


@pytest.fixture(autouse=True)
def _no_worker(monkeypatch):
    """Nothing is mirrored before a test asks for it."""
    monkeypatch.setattr(tasks.mirror_commit, "delay", lambda pk: None)


def git(folder, *arguments):
    done = subprocess.run(
        ["git", "-c", f"safe.directory={folder}", "-c", "core.quotepath=false", *arguments],
        cwd=folder,
        capture_output=True,
        check=True,
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"},
    )
    return done.stdout.decode()


def folder_of(root, agent, company="acme"):
    return root / company / f"agent-{agent.pk}"


def applied(runtime, reviewer, agent, *items, **fields):
    code = runtime.code(agent, *items, **fields)
    answer = reviewer.post(f"proposals/{code}/approve", {"reason": "r", "confirmation": agent.name})
    assert answer.json()["status"] == "applied", answer.content.decode()
    return code


def mirrored():
    return mirror_pending(now=timezone.now())


def contents(folder, commit="HEAD"):
    names = git(folder, "ls-tree", "-r", "-z", "--name-only", commit).split("\0")
    return {name: git(folder, "show", f"{commit}:{name}") for name in names if name}


def changed_lines(patch):
    """The changed lines of a patch, without its heads."""
    return [line for line in patch.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]


def test_an_applied_change_is_one_commit_with_the_note_and_exactly_the_approved_difference(
    root, runtime, reviewer, agent
):
    applied(runtime, reviewer, agent, NOTE, title="先备份")
    assert mirrored() == 1
    folder = folder_of(root, agent)
    message = git(folder, "log", "-1", "--format=%B")
    assert message.startswith("learn(knowledge): 先备份\n\n- 来源：人工\n")
    assert "Learned by: self-evolve\nUser confirmed: true" in message
    assert git(folder, "log", "-1", "--format=%an").strip() == "reviewer"
    assert git(folder, "diff", "--name-only", "HEAD~1", "HEAD") == "memory/notes.md\n"
    before, after = contents(folder, "HEAD~1"), contents(folder)
    item = runtime.get("proposals/EP-001").json()["items"][0]
    assert (before["memory/notes.md"], after["memory/notes.md"]) == (item["base_text"], item["new_text"])
    assert changed_lines(git(folder, "show", "--format=", "HEAD")) == changed_lines(item["diff"])
    assert git(folder, "status", "--porcelain") == ""


def test_the_repository_holds_role_rows_and_documents(root, runtime, reviewer, agent):
    applied(runtime, reviewer, agent, LESSON)
    mirrored()
    folder = folder_of(root, agent)
    assert contents(folder) == {
        "memory/notes.md": NOTES,
        "system_prompt.md": "你是运维助手。\n",
        "experiences.md": "- [x] eins\n- [ ] zwei\n  noch\n- [x] 先查日志\n",
    }
    assert changed_lines(git(folder, "show", "--format=", "HEAD")) == ["+- [x] 先查日志"]


OPERATIONS = {
    "create": (note("a", target="memory/new.md"), {"memory/new.md"}),
    "delete": ({**NOTE, "operation": "delete"}, {"memory/notes.md"}),
    "rename": (
        {**NOTE, "operation": "rename", "new_target": "memory/moved.md"},
        {"memory/notes.md", "memory/moved.md"},
    ),
    "user document": (PREFERENCE, {"users/u1/profile.md"}),
    "attributes": (whole(".gitattributes", "* text eol=crlf filter=evil\n"), {".gitattributes"}),
    "ignored": (whole(".gitignore", "*\n"), {".gitignore"}),
    "Chinese name": (note("a", target="memory/部署 笔记.md"), {"memory/部署 笔记.md"}),
}


@pytest.mark.parametrize(("item", "paths"), OPERATIONS.values(), ids=OPERATIONS.keys())
def test_each_operation_changes_just_its_files(root, runtime, reviewer, agent, item, paths):
    applied(runtime, reviewer, agent, NOTE | {"content": "vorher"})
    applied(runtime, reviewer, agent, item)
    assert mirrored() == 2
    folder = folder_of(root, agent)
    changed = git(folder, "diff", "--no-renames", "--name-only", "-z", "HEAD~1", "HEAD")
    assert set(changed.strip("\0").split("\0")) == paths
    if "memory/notes.md" not in paths:
        assert contents(folder)["memory/notes.md"] == NOTES + "\r\n## 知识\r\n\r\n- vorher\r\n"


def test_several_items_are_one_commit(root, runtime, reviewer, agent):
    applied(runtime, reviewer, agent, note("a"), note("b"), LESSON, PREFERENCE)
    mirrored()
    folder = folder_of(root, agent)
    lines = changed_lines(git(folder, "show", "--format=", "HEAD", "--", "memory"))
    assert [line.strip() for line in lines if line.strip() != "+"] == ["+## 知识", "+- a", "+- b"]


def test_what_happened_by_hand_in_between_is_a_commit_of_its_own(root, runtime, reviewer, agent, acme):
    applied(runtime, reviewer, agent, NOTE)
    mirrored()
    writer = ApiClient(make_key(acme, scopes=["agents:write"]))
    writer.put(f"agents/{agent.pk}/documents", {"path": "memory/hand.md", "text": "x\n"})
    applied(runtime, reviewer, agent, note("zwei"))
    mirrored()
    folder = folder_of(root, agent)
    subjects = git(folder, "log", "--format=%s").splitlines()
    assert subjects[0].startswith("learn(knowledge): zwei") and subjects[1] == "sync: state before EP-002"
    assert git(folder, "diff", "--name-only", "HEAD~1", "HEAD") == "memory/notes.md\n"


def test_user_documents_stay_when_others_are_added(root, runtime, reviewer, agent):
    applied(runtime, reviewer, agent, PREFERENCE)
    mirrored()
    applied(runtime, reviewer, agent, {**PREFERENCE, "target": "users/u2/profile.md"})
    mirrored()
    assert {"users/u1/profile.md", "users/u2/profile.md"} <= set(contents(folder_of(root, agent)))


def test_a_rollback_is_mirrored_too(root, runtime, reviewer, agent):
    code = applied(runtime, reviewer, agent, NOTE, PREFERENCE)
    mirrored()
    reviewer.post(f"proposals/{code}/rollback", {"reason": "doch\nnicht"})
    assert mirrored() == 1
    folder = folder_of(root, agent)
    assert git(folder, "log", "-1", "--format=%s").strip() == "rollback: EP-001 doch nicht"
    assert contents(folder) == contents(folder, "HEAD~2")


def test_users_of_two_companies_lie_in_different_repositories(root, reviewer, acme, rival, global_company):
    shared = make_agent(global_company, name="shared", documents=[("memory/notes.md", "x\n")])
    for company, secret in ((acme, "Geheimnis-A"), (rival, "Geheimnis-B")):
        runtime = Runtime(make_key(company, scopes=["read", "report", "proposals:decide"]))
        code = runtime.code(shared, {**PREFERENCE, "content": secret})
        assert runtime.post(f"proposals/{code}/approve", {"decided_by": "u1"}).json()["status"] == "applied"
    assert mirrored() == 2
    for company, mine, other in (("acme", "A", "B"), ("rival", "B", "A")):
        text = str(contents(folder_of(root, shared, company)))
        assert f"Geheimnis-{mine}" in text and f"Geheimnis-{other}" not in text


def test_without_the_setting_nothing_is_kept_or_written(runtime, reviewer, agent, settings, tmp_path):
    settings.AGENTS_GIT_ROOT = ""
    applied(runtime, reviewer, agent, NOTE)
    assert not GitMirrorCommit.objects.exists() and mirrored() == 0


# -- the receipt stays as written; its export names the commit


def test_the_export_of_the_receipt_shows_the_commit(root, runtime, reviewer, agent, acme):
    code = applied(runtime, reviewer, agent, NOTE, LESSON)
    receipt = Receipt.objects.get(proposal_code=code)
    url = f"receipts/{receipt.pk}"
    waiting = reviewer.get(f"{url}?format=json").json()["receipt"]["learning_items"]
    assert [line["git_commit"] for line in waiting] == ["", ""]
    mirrored()
    sha = git(folder_of(root, agent), "rev-parse", "HEAD").strip()
    export = reviewer.get(f"{url}?format=json").json()["receipt"]
    assert [line["git_commit"] for line in export["learning_items"]] == [sha, sha]
    assert yaml.safe_load(reviewer.get(f"{url}?format=yaml").content) == {"receipt": export}
    assert verify_chain(acme).intact


def test_without_a_mirror_the_export_has_no_such_member(runtime, reviewer, agent):
    code = applied(runtime, reviewer, agent, NOTE)
    receipt = Receipt.objects.get(proposal_code=code)
    export = reviewer.get(f"receipts/{receipt.pk}?format=json").json()["receipt"]
    assert "git_commit" not in export["learning_items"][0]


# -- a commit that fails


@pytest.fixture
def unwritable(root):
    """A file where the folder should be: as good as read-only, also for root."""
    root.write_text("x")
    return root


def test_a_mirror_that_cannot_be_written_never_undoes_a_change(
    unwritable, runtime, reviewer, agent, documents
):
    applied(runtime, reviewer, agent, NOTE)
    assert mirrored() == 0
    row = GitMirrorCommit.objects.get()
    assert (row.status, bool(row.error)) == ("failed", True)
    assert "先备份" in documents(agent)["memory/notes.md"]
    assert runtime.get("proposals/EP-001").json()["status"] == "applied"
    assert mirrored() == 0, "it is not tried again by itself"


def test_a_failed_commit_is_done_by_a_retry(unwritable, runtime, reviewer, agent):
    applied(runtime, reviewer, agent, NOTE)
    mirrored()
    unwritable.unlink()
    row = GitMirrorCommit.objects.get()
    assert retry_commit(commit_id=row.pk, actor=SYSTEM, now=timezone.now())
    row.refresh_from_db()
    assert (row.status, row.error) == ("done", "")
    assert row.sha == git(folder_of(unwritable, agent), "rev-parse", "HEAD").strip()
    with pytest.raises(Exception, match="STATE_CONFLICT"):
        retry_commit(commit_id=row.pk, actor=SYSTEM, now=timezone.now())


def test_a_retry_behind_a_later_commit_does_not_turn_back_the_clock(
    root, runtime, reviewer, agent, monkeypatch
):
    applied(runtime, reviewer, agent, note("eins"))
    with monkeypatch.context() as patched:
        patched.setattr(Repository, "commit", _refuse)
        mirrored()
    applied(runtime, reviewer, agent, note("zwei"))
    mirrored()
    folder = folder_of(root, agent)
    head = git(folder, "rev-parse", "HEAD").strip()
    first = GitMirrorCommit.objects.earliest("receipt_id")
    assert first.status == "failed"
    assert retry_commit(commit_id=first.pk, actor=SYSTEM, now=timezone.now())
    first.refresh_from_db()
    assert (first.sha, git(folder, "rev-parse", "HEAD").strip()) == (head, head)
    assert "- eins" in contents(folder)["memory/notes.md"]


def _refuse(self, *arguments):
    raise GitError("index is locked")


def test_files_stay_in_the_work_tree_when_git_refuses(root, runtime, reviewer, agent, monkeypatch):
    applied(runtime, reviewer, agent, NOTE)
    real = Repository._git

    def broken(self, *arguments, **options):
        if arguments[0] == "commit-tree" and "learn" in options["text"]:
            raise GitError("disk full")
        return real(self, *arguments, **options)

    monkeypatch.setattr(Repository, "_git", broken)
    assert mirrored() == 0
    assert GitMirrorCommit.objects.get().error == "disk full"
    assert "先备份" in (folder_of(root, agent) / "memory/notes.md").read_text(encoding="utf-8")


# -- sweeper and hints


def test_an_apply_hints_and_the_sweeper_does_what_was_lost(
    root, runtime, reviewer, agent, monkeypatch, django_capture_on_commit_callbacks
):
    hinted = []
    monkeypatch.setattr(tasks.mirror_commit, "delay", hinted.append)
    code = runtime.code(agent, NOTE)
    with django_capture_on_commit_callbacks(execute=True):
        reviewer.post(f"proposals/{code}/approve")
    assert hinted == [GitMirrorCommit.objects.get().pk]
    assert tasks.mirror_commits() == 1
    assert tasks.mirror_commit(hinted[0]) is True
    assert tasks.mirror_commits() == 0


def test_without_a_broker_the_change_is_applied_and_mirrored_later(
    root, runtime, reviewer, agent, monkeypatch, django_capture_on_commit_callbacks
):
    def down(pk):
        raise OperationalError

    monkeypatch.setattr(tasks.mirror_commit, "delay", down)
    code = runtime.code(agent, NOTE)
    with django_capture_on_commit_callbacks(execute=True):
        assert reviewer.post(f"proposals/{code}/approve").status_code == 200
    assert mirrored() == 1


def test_a_row_that_somebody_works_on_is_left_alone_and_taken_over_after_its_lease(
    root, runtime, reviewer, agent
):
    applied(runtime, reviewer, agent, NOTE)
    now = timezone.now()
    GitMirrorCommit.objects.update(leased_until=now + timedelta(minutes=1), attempts=1)
    assert mirror_pending(now=now) == 0
    assert mirror_pending(now=now + timedelta(minutes=2)) == 1


def test_a_commit_at_which_workers_die_is_given_up(root, runtime, reviewer, agent):
    applied(runtime, reviewer, agent, NOTE)
    GitMirrorCommit.objects.update(attempts=MAX_ATTEMPTS, leased_until=timezone.now() - timedelta(minutes=1))
    assert mirrored() == 0
    row = GitMirrorCommit.objects.get()
    assert row.status == "failed" and str(MAX_ATTEMPTS) in row.error
    assert retry_commit(commit_id=row.pk, actor=SYSTEM, now=timezone.now())


def test_while_another_worker_holds_the_repository_nothing_is_done(root, runtime, reviewer, agent):
    applied(runtime, reviewer, agent, NOTE)
    row = GitMirrorCommit.objects.get()
    with Repository(folder_of(root, agent)).lock() as is_ours:
        assert is_ours and not mirror_one(commit_id=row.pk, now=timezone.now())
    assert GitMirrorCommit.objects.get().status == "pending"
    assert mirror_one(commit_id=row.pk, now=timezone.now())


def test_the_lock_holds_between_threads(tmp_path):
    results = []
    with Repository(tmp_path / "a" / "agent-1").lock():
        other = threading.Thread(
            target=lambda: results.append(Repository(tmp_path / "a" / "agent-1").lock().__enter__())
        )
        other.start()
        other.join()
    assert results == [False]


# -- git itself is a stranger


@pytest.fixture
def hostile(monkeypatch, tmp_path):
    """A user's configuration and templates with programs that leave a mark."""
    mark = tmp_path / "executed"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    templates = tmp_path / "templates"
    for name in ("pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change"):
        hook = templates / "hooks" / name
        hook.parent.mkdir(parents=True, exist_ok=True)
        hook.write_text(program.read_text())
        hook.chmod(0o755)
    config = tmp_path / "gitconfig"
    config.write_text(
        f"[init]\n\ttemplateDir = {templates}\n[core]\n\thooksPath = {templates / 'hooks'}\n"
        f"\tfsmonitor = {program}\n\tautocrlf = true\n\tpager = {program}\n\teditor = {program}\n"
        f"[commit]\n\tgpgSign = true\n\ttemplate = {program}\n[gpg]\n\tprogram = {program}\n"
        f'[filter "evil"]\n\tclean = {program}\n\tsmudge = {program}\n\tprocess = {program}\n'
        "[user]\n\tname = Mallory\n\temail = mallory@example.test\n"
    )
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(config))
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".gitconfig").write_text(config.read_text())
    for name, value in {
        "GIT_DIR": str(tmp_path / "elsewhere"),
        "GIT_TEMPLATE_DIR": str(templates),
        "GIT_EXTERNAL_DIFF": str(program),
        "GIT_EDITOR": str(program),
        "GIT_AUTHOR_NAME": "Mallory",
    }.items():
        monkeypatch.setenv(name, value)
    return mark, templates, config


def test_nobodys_configuration_hooks_templates_or_filters_have_a_say(root, hostile, runtime, reviewer, agent):
    mark, templates, config = hostile
    item = whole(".gitattributes", "* filter=evil text eol=crlf\n")
    applied(runtime, reviewer, agent, item)
    assert mirrored() == 1
    folder = folder_of(root, agent)
    # Somebody with access to the folder puts hooks and configuration into the repository itself.
    (folder / ".git" / "config").write_text((folder / ".git" / "config").read_text() + config.read_text())
    hooks = folder / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in (templates / "hooks").iterdir():
        (hooks / hook.name).write_bytes(hook.read_bytes())
        (hooks / hook.name).chmod(0o755)
    applied(runtime, reviewer, agent, NOTE)
    assert mirrored() == 1
    assert not mark.exists(), "a foreign program ran"
    assert not (folder.parent / "elsewhere").exists()
    names = git(folder, "-c", "core.fsmonitor=false", "log", "--format=%an|%cn|%ae")
    assert "Mallory" not in names and "mallory" not in names
    committed = contents(folder)
    assert committed["memory/notes.md"].startswith(NOTES)
    for version in DocumentVersion.objects.filter(document__path="memory/notes.md", number=2):
        assert committed["memory/notes.md"] == version.text


@pytest.mark.parametrize(
    ("author", "shown"),
    [
        ("李雷", "李雷"),
        ("Eve <eve@x.test>", "Eve eve@x.test"),
        ("a\nAuthor: b", "aAuthor: b"),
        ("...", "Fieldbook"),
        ("", "Fieldbook"),
        ("<>", "Fieldbook"),
        (" . x , ", "x"),
        ("\u202ex", "x"),
    ],
)
def test_any_name_can_be_an_author(tmp_path, author, shown):
    repository = Repository(tmp_path / "repository")
    repository.prepare()
    assert repository.commit({"a.md": "x"}, "m", author, timezone.now())
    assert git(repository.folder, "log", "-1", "--format=%an").strip() == shown


@pytest.mark.parametrize("path", ["../x.md", "a/../../x.md", ".git/config", "a/.GIT/hooks/x", "/etc/x"])
def test_nothing_is_written_outside_the_work_tree(tmp_path, path):
    repository = Repository(tmp_path / "repository")
    repository.prepare()
    before = sorted(tmp_path.rglob("x*"))
    with pytest.raises(GitError):
        repository.commit({path: "x"}, "m", "a", timezone.now())
    assert sorted(tmp_path.rglob("x*")) == before


def test_no_link_leads_out_of_the_work_tree(tmp_path):
    repository = Repository(tmp_path / "repository")
    repository.prepare()
    outside = tmp_path / "outside"
    outside.mkdir()
    (repository.folder / "memory").symlink_to(outside)
    with pytest.raises(GitError):
        repository.commit({"memory/x.md": "x"}, "m", "a", timezone.now())
    assert list(outside.iterdir()) == []
    (repository.folder / "memory").unlink()
    (repository.folder / "y.md").symlink_to(outside / "y.md")
    repository.commit({"y.md": "text"}, "m", "a", timezone.now())
    assert not (outside / "y.md").exists() and (repository.folder / "y.md").read_text() == "text"


def test_a_file_can_become_a_folder_and_back(tmp_path):
    repository = Repository(tmp_path / "repository")
    repository.prepare()
    for files in ({"a": "x"}, {"a/b.md": "y"}, {"a": "z"}, {}):
        repository.commit(files, "m", "a", timezone.now())
        assert contents(repository.folder) == files
    assert [path.name for path in Path(repository.folder).iterdir()] == [".git"]


def test_equal_files_make_no_commit(tmp_path):
    repository = Repository(tmp_path / "repository")
    repository.prepare()
    assert repository.commit({"a.md": "x"}, "m", "a", timezone.now())
    assert repository.commit({"a.md": "x"}, "m", "a", timezone.now()) is None
