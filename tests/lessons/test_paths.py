"""One spelling for each path."""

import unicodedata

import pytest

from evolution.lessons.rules.paths import directories, matches_any, normalise_path, normalise_paths, touched


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("a/b.py", "a/b.py"),
        ("./a//b.py", "a/b.py"),
        ("././a", "a"),
        (r".\a\b.py", "a/b.py"),
        (" a.py ", "a.py"),
        ("dir/", "dir/"),
        ("", ""),
        ("./", ""),
        (unicodedata.normalize("NFD", "é/中译英.yml"), "é/中译英.yml"),
        ("../a", "../a"),
        (".agent/x", ".agent/x"),
        ("./" * 100_000 + "a", "a"),
        (" ./" * 100_000 + "a", "a"),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_a_path_has_one_spelling(raw, expected):
    assert normalise_path(raw) == expected
    assert normalise_path(expected) == expected


def test_empty_entries_and_twins_are_dropped():
    assert normalise_paths(["", " ", "a", "./a", "b"]) == ["a", "b"]


def test_directories_are_told_from_the_outside_in():
    assert list(directories("a/b/c.py")) == ["a/", "a/b/"]
    assert list(directories("a/b/")) == ["a/"]
    assert list(directories("c.py")) == []


def test_a_change_touches_a_listed_file_or_what_lies_below_a_listed_directory():
    assert touched(["a/", "x.py"], ["a/b/c.py", "x.py", "ab.py", "y/x.py"]) == ["a/b/c.py", "x.py"]


@pytest.mark.parametrize(
    ("path", "pattern", "meets"),
    [
        ("a/README.md", "readme*", True),
        ("a/b.lock", "*.lock", True),
        ("vendor/a.go", "vendor/", True),
        ("a/vendor/b.go", "vendor/", True),
        ("a/vendor", "vendor/", False),
        ("a/b/c.md", "a/**", True),
        ("a/b/c.md", "a/*", False),
        ("a/b/c.md", "a/*/c.md", True),
        ("x/a/b.md", "a/b.md", False),
        ("x/a/b.md", "**/a/b.md", True),
        ("a/b.md", "**/a/b.md", True),
        ("a/b/c.md", "a/b/", True),
        ("build-x/a", "build*/", True),
    ],
)
def test_patterns_meet_names_directories_and_paths(path, pattern, meets):
    assert (matches_any(path, [pattern]) == pattern) is meets


def test_a_pattern_of_stars_stays_cheap():
    assert matches_any("a/" * 200 + "b", ["**/" * 60 + "c", "*a" * 90]) is None
