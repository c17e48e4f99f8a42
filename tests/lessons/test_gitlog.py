"""Repositories that nobody vouches for: read completely, and nothing in them is run."""

import os
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from common.errors import ApplicationError
from evolution.lessons.gitlog import Batch, GitLimits, GitRepository, Step, next_batch, since
from evolution.lessons.rules.commits import capture_commit
from tests.lessons.git_folders import PLAIN, commit, evil, git


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "repository"
    path.mkdir()
    git(path, "init", "-q", "-b", "main")
    return path


def read_all(folder, **limits):
    repository = GitRepository(folder, GitLimits(**limits))
    return list(repository.read([step.sha for step in repository.walk(repository.head())]))


def test_commits_come_oldest_first_with_all_that_is_needed(folder):
    first = commit(
        folder, "feat: 初始", {"DSL/中译英.yml": "a\n" * 20, "with space.md": "x", "b.png": b"\x89PNG"}
    )
    git(folder, "mv", "DSL/中译英.yml", "DSL/新.yml")
    second = commit(folder, "fix(db): x\r\n\r\n原因：锁\r\n", {"with space.md": "y"})
    one, two = read_all(folder)
    assert (one.sha, two.sha, two.parents) == (first, second, (first,))
    assert {(file.path, file.status, file.is_binary) for file in one.files} == {
        ("DSL/中译英.yml", "A", False), ("with space.md", "A", False), ("b.png", "A", True),
    }  # fmt: skip
    assert ("DSL/新.yml", "R", "DSL/中译英.yml") in {
        (file.path, file.status, file.old_path) for file in two.files
    }
    assert two.author_date == datetime(2026, 3, 1, 2, tzinfo=UTC)
    assert (two.subject, two.body) == ("fix(db): x", "\n原因：锁".strip("\n"))
    assert capture_commit(two).what == "锁"


def test_merges_empty_commits_and_several_roots_do_not_stop_the_reading(folder):
    commit(folder, "one", {"a": "1"})
    git(folder, "checkout", "-q", "--orphan", "other")
    commit(folder, "fix: of the other root", {"b": "2"})
    git(folder, "merge", "-q", "--allow-unrelated-histories", "-m", "Merge main", "main")
    commit(folder, "empty")
    commits = read_all(folder)
    assert [one.subject for one in commits][-2:] == ["Merge main", "empty"]
    assert [one.files for one in commits][-2:] == [(), ()]
    assert commits[-2].is_merge


@pytest.mark.parametrize(
    "message",
    [
        "fix: x\x1e\x1f\x01\x07\x1b[31m",
        "fix: \u202e left",
        b"fix: \xff\xfe\xe9 latin",
        "fix: x\rsecond\rthird",
        "fix: " + "long " * 200_000,
        "\n\n\nfix: late",
        "--output=evil\n\n--exec=evil",
    ],
    ids=["controls", "bidi", "bytes", "cr", "megabyte", "blank", "option"],
)
def test_odd_messages_do_not_stop_the_reading(folder, message):
    sha = commit(folder, message, {"a": "1"})
    (one,) = read_all(folder)
    assert one.sha == sha
    capture_commit(one)


def test_dates_that_no_calendar_has_are_left_out(folder):
    tree = git(folder, "write-tree")
    text = (
        f"tree {tree}\nauthor A <a@b.test> 99999999999999 +0000\ncommitter A <a@b.test> 5 +9999\n\nfix: x\n"
    )
    sha = git(folder, "hash-object", "-t", "commit", "-w", "--stdin", "--literally", stdin=text.encode())
    (one,) = GitRepository(folder).read([sha])
    assert one.author_date is None
    assert one.subject == "fix: x"


def snapshot(folder):
    return {str(path): path.lstat().st_mtime_ns for path in folder.rglob("*")}


def test_nothing_in_a_hostile_repository_is_run_or_written(folder):
    ran, sha = evil(folder)
    before = snapshot(folder.parent)
    repository = GitRepository(folder)
    assert repository.head() == sha
    assert repository.is_ancestor(sha, sha)
    assert not repository.is_shallow
    (one,) = repository.read([step.sha for step in repository.walk(sha)])
    assert one.subject == "fix: x"
    assert {file.path for file in one.files} == {"a.txt", ".gitattributes"}
    assert not ran.exists()
    assert snapshot(folder.parent) == before


def test_without_the_guard_the_hostile_repository_does_run_its_program(folder):
    ran, _sha = evil(folder)
    subprocess.run(["git", "-C", str(folder), "log", "-1", "--format=%s"], env=PLAIN, capture_output=True)
    assert ran.exists()


@pytest.mark.parametrize(
    "name",
    [
        "--output=evil",
        "HEAD",
        "main",
        "",
        "-n1",
        "a" * 39,
        "A" * 40,
        "a" * 40 + "\n",
        "a" * 41,
        "$(touch evil)",
    ],
)
def test_only_full_names_of_commits_are_passed_on(folder, name):
    commit(folder, "one", {"a": "1"})
    repository = GitRepository(folder)
    assert not repository.has(name)
    for use in (
        lambda: repository.walk(name),
        lambda: list(repository.read([name])),
        lambda: repository.check_has(name),
    ):
        with pytest.raises(ApplicationError) as caught:
            use()
        assert caught.value.code == "VALIDATION_ERROR"
    assert not (folder / "evil").exists()


def test_an_unknown_commit_is_one_clean_error(folder):
    commit(folder, "one", {"a": "1"})
    repository = GitRepository(folder)
    with pytest.raises(ApplicationError):
        repository.walk("0" * 40)
    with pytest.raises(ApplicationError):
        repository.check_has("0" * 40)
    assert list(repository.read(["0" * 40])) == []
    assert repository.unreadable == ["0" * 40]


@pytest.mark.parametrize("kind", ["missing", "plain folder", "file", "inside another", "broken"])
def test_what_is_no_repository_is_one_clean_error(folder, kind):
    commit(folder, "one", {"sub/a": "1"})
    path = {"missing": folder / "nowhere", "plain folder": folder.parent, "file": folder / "sub/a"}.get(
        kind, folder
    )
    if kind == "inside another":
        path = folder / "sub"
    if kind == "broken":
        (folder / ".git/HEAD").unlink()
    with pytest.raises(ApplicationError) as caught:
        GitRepository(path)
    assert caught.value.code == "VALIDATION_ERROR"


def test_an_empty_repository_has_no_head(folder):
    assert GitRepository(folder).head() is None


def test_a_missing_object_costs_its_commit_only(folder):
    shas = [commit(folder, f"fix: {number}", {f"d{number}/a": str(number)}) for number in range(5)]
    tree = git(folder, "rev-parse", f"{shas[2]}^{{tree}}")
    (folder / ".git/objects" / tree[:2] / tree[2:]).unlink()
    repository = GitRepository(folder)
    read = [one.sha for one in repository.read([step.sha for step in repository.walk(shas[-1])])]
    assert set(repository.unreadable) == {shas[2], shas[3]}
    assert read == [shas[0], shas[1], shas[4]]


def test_a_shallow_clone_is_seen_and_its_boundary_marked(folder, tmp_path):
    for number in range(5):
        commit(folder, f"fix: {number}", {f"a{number}": "1"})
    git(tmp_path, "clone", "-q", "--bare", "--depth", "2", f"file://{folder}", "shallow.git")
    repository = GitRepository(tmp_path / "shallow.git")
    assert repository.is_shallow
    commits = list(repository.read([step.sha for step in repository.walk(repository.head())]))
    assert [one.is_boundary for one in commits] == [True, False]
    assert capture_commit(commits[0]).reason == "shallow_boundary"
    assert not GitRepository(folder).is_shallow


def test_too_much_output_costs_the_commit_and_not_the_scan(folder):
    small = commit(folder, "fix: small", {"a": "1"})
    large = commit(folder, "fix: " + "x" * 300_000, {"a": "2"})
    repository = GitRepository(folder, GitLimits(max_bytes=100_000))
    assert [one.sha for one in repository.read([small, large])] == [small]
    assert repository.unreadable == [large]


def test_a_git_that_hangs_is_ended(folder, tmp_path, monkeypatch):
    commit(folder, "one", {"a": "1"})
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\nsleep 60\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    started = time.monotonic()
    with pytest.raises(ApplicationError):
        GitRepository(folder, GitLimits(seconds=0.3))
    assert time.monotonic() - started < 30


def test_a_submodule_is_no_text_file(folder):
    commit(folder, "one", {"a": "1"})
    git(folder, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},module")
    git(folder, "commit", "-q", "-m", "fix: module")
    assert [(file.path, file.is_binary) for file in read_all(folder)[-1].files] == [("module", True)]


# --- where a run ends ------------------------------------------------------------------------------------------------


def line(*names):
    return [
        Step(name, (before,) if before else (), at)
        for at, (before, name) in enumerate(zip(("", *names), names, strict=False))
    ]


def test_a_run_takes_the_oldest_and_leaves_the_rest():
    steps = line("a", "b", "c", "d")
    assert next_batch(steps, None, 2) == Batch(["a", "b"], "b", 2)
    assert next_batch(steps[2:], "b", 2) == Batch(["c", "d"], "d", 0)
    assert next_batch([], "d", 2) == Batch([], "d", 0)


def test_a_run_never_ends_inside_parallel_branches():
    steps = [*line("a"), Step("b1", ("a",), 1), Step("b2", ("b1",), 2), Step("c1", ("a",), 3),
             Step("m", ("b2", "c1"), 4), Step("n", ("m",), 5)]  # fmt: skip
    assert next_batch(steps, None, 3) == Batch(["a", "b1", "b2"], "b2", 3)
    batch = next_batch(steps, None, 4)
    rest = next_batch([step for step in steps if step.sha not in batch.shas], batch.cursor, 4)
    assert batch.shas + rest.shas == [step.sha for step in steps]


def test_since_looks_at_the_committer_date():
    assert since(line("a", "b", "c"), datetime.fromtimestamp(1, UTC)) == ["b", "c"]


def test_the_module_gives_git_no_shell():
    for name in ("gitlog.py", "gitcall.py"):
        source = Path(__file__).resolve().parents[2] / "evolution/lessons" / name
        assert "shell=" not in source.read_text(encoding="utf-8")
