"""Files repaired again and again, without flooding."""

from datetime import UTC, datetime, timedelta

import pytest

from evolution.lessons.rules.churn import ChurnLimits, churn_title, find_churn
from evolution.lessons.rules.commits import ChangedFile, Commit

START = datetime(2026, 3, 1, tzinfo=UTC)
NOW = datetime(2026, 4, 1, tzinfo=UTC)


def commit(days, *files, subject="feat: x", name="", **fields):
    at = START + timedelta(days=days)
    changed = tuple(file if isinstance(file, ChangedFile) else ChangedFile(file) for file in files)
    return Commit(name or f"{days}-{files}", subject, "", at, at, ("p",), changed, **fields)


def churn(*commits, drafted=None, now=NOW, **limits):
    return find_churn(commits, ChurnLimits(**limits), now, drafted)


def paths(report):
    return [hit.path for hit in report.hits]


def test_both_ends_of_the_window_count():
    report = churn(commit(0, "a.py"), commit(3, "a.py"), commit(7, "a.py"))
    assert [(hit.path, hit.count) for hit in report.hits] == [("a.py", 3)]


@pytest.mark.parametrize(
    "commits",
    [
        [commit(0, "a.py"), commit(3, "a.py"), commit(7.00002, "a.py")],
        [commit(0, "a.py", "a.py", "./a.py")],
        [commit(0, "a.py", name="same")] * 3,
        [commit(0, "a.py"), commit(1, "b.py"), commit(2, "c.py")],
        [commit(day, "a.py", is_boundary=True) for day in range(3)],
        [Commit(str(day), "Merge", "", START, START, ("p", "q"), (ChangedFile("a.py"),)) for day in range(3)],
    ],
)
def test_fewer_distinct_commits_are_no_hit(commits):
    assert paths(churn(*commits)) == []


def test_the_hottest_window_is_told_and_its_commits():
    days = [0, 1, 2, 20, 21, 22, 23]
    (hit,) = churn(*(commit(day, "a.py", name=f"c{day}") for day in days)).hits
    assert hit.commits == ("c20", "c21", "c22", "c23")
    assert (hit.first, hit.last) == (START + timedelta(days=20), START + timedelta(days=23))


def test_a_renamed_file_is_one_file_under_its_new_name():
    renamed = ChangedFile("new.py", "R", "old.py")
    assert paths(churn(commit(0, "old.py"), commit(1, renamed), commit(2, "new.py"))) == ["new.py"]


def test_what_is_ignored_is_counted():
    report = churn(
        *(
            commit(day / 10, "CHANGELOG.md", "web/node_modules/x.js", ChangedFile("a.dat", is_binary=True))
            for day in range(61)
        )
    )
    assert paths(report) == []
    assert report.ignored == {"CHANGELOG*": 1, "node_modules/": 1, "binary": 1}
    assert report.ignored_top[0][1] == 61


@pytest.mark.parametrize(
    "path",
    ["README.zh.md", "docs/readme", "uv.lock", "package.json", "a/package-lock.json", ".agent/memory/a/b.md",
     "dist/x.js", "a/vendor/b.go"],
)  # fmt: skip
def test_noise_is_ignored_by_default(path):
    assert paths(churn(*(commit(day, path) for day in range(3)))) == []
    assert paths(churn(*(commit(day, path) for day in range(3)), ignored=())) == [path]


def test_large_commits_do_not_count():
    files = [f"f{number}.py" for number in range(101)]
    report = churn(*(commit(day, *files) for day in range(3)))
    assert (paths(report), report.large_commits) == ([], 3)
    assert len(churn(*(commit(day, *files[:100]) for day in range(3))).hits) == 20


def test_strict_counts_fixes_only():
    commits = [commit(0, "a.py", subject="fix: x"), commit(1, "a.py"), commit(2, "a.py", subject="修复 y")]
    assert paths(churn(*commits)) == ["a.py"]
    assert paths(churn(*commits, is_strict=True)) == []
    assert paths(churn(*commits, commit(3, "a.py", subject="Revert z"), is_strict=True)) == ["a.py"]


@pytest.mark.parametrize(("days_ago", "hits"), [(1, 0), (30, 0), (30.01, 1)])
def test_a_file_rests_thirty_days_after_its_draft(days_ago, hits):
    report = churn(
        *(commit(day, "a.py") for day in range(3)), drafted={"a.py": NOW - timedelta(days=days_ago)}
    )
    assert (len(report.hits), report.cooling) == (hits, 1 - hits)


def test_the_twenty_hottest_come_first_and_the_rest_is_told():
    commits = [commit(turn / 10, f"f{file}.py") for file in range(33) for turn in range(3 + file)]
    report = churn(*commits)
    assert paths(report)[0] == "f32.py"
    assert (len(report.hits), report.left_out, len(report.left_out_top)) == (20, 13, 10)
    assert report.left_out_top[0] == ("f12.py", 15)


@pytest.mark.parametrize(
    ("language", "expected"), [("zh", "a.py 7 天内修改 3 次"), ("en", "a.py changed 3 times in 7 days")]
)
def test_the_title_tells_file_and_number(language, expected):
    assert churn_title("a.py", 7, 3, language) == expected
    long = churn_title("目录/" * 100 + "a.py", 7, 3, language)
    assert len(long) == 200
    assert "a.py" in long
