"""The papers keep up with the code: named rules stand in docs/rules.md, every endpoint in docs/api.md."""

import re
from pathlib import Path

from tests.api.routes import all_routes

ROOT = Path(__file__).parents[2]
ROOMS = ("agents", "common", "config", "evolution", "experiences", "prompt")
NAMED = re.compile(r"docs/rules\.md: ([^.;()\"\n]+(?:\n[^.;()\"\n]+)?)")


def rows_of(text):
    """Names of the rows of all tables; a row may bear several, parted by commas."""
    first = (line.split("|")[1] for line in text.splitlines() if line.startswith("| "))
    return {name.strip().casefold() for names in first for name in names.split(",")}


def named_in(text):
    """The rows that a Python file names in its docstrings and comments."""
    for match in NAMED.finditer(text):
        told = " ".join(match[1].replace("#:", " ").replace("#", " ").split())
        yield from (name.strip().casefold() for name in told.split(","))


def unknown_rules(files, rows):
    return sorted((place, name) for place, text in files for name in named_in(text) if name not in rows)


def source_files():
    paths = (path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
    return [(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")) for path in paths]


def test_every_rule_that_code_names_is_a_row_of_the_rules():
    rows = rows_of((ROOT / "docs/rules.md").read_text(encoding="utf-8"))
    files = source_files()
    assert sum(1 for _, text in files for _ in named_in(text)) > 50
    assert unknown_rules(files, rows) == []


def test_a_rule_that_no_row_explains_is_found():
    rows = rows_of("| row | rule |\n|---|---|\n| one, two | x |\n")
    files = [("a.py", '"""docs/rules.md: one, two."""'), ("b.py", "# docs/rules.md: three.")]
    assert unknown_rules(files, rows) == [("b.py", "three")]


def said(text):
    """Paths that docs/api.md names, a part in braces as `{}`; a short `/x` or `x` continues any on its line."""
    paths: set[str] = set()
    for line in text.splitlines():
        words = [word for quoted in re.findall(r"`([^`]+)`", line) for word in re.split(r"[\s,]+", quoted)]
        named = [
            re.sub(r"\{[^}]*\}", "{}", word.split("?")[0]).removeprefix("/api/v1").strip("/")
            for word in words
        ]
        heads = {*named, *(name.rpartition("/")[0] for name in named)}
        joined = {f"{first}/{second}" for first in heads for second in named}
        paths |= {*named, *joined, *(f"{first}/{second}" for first in joined for second in named)}
    return paths


def missing_routes(routes, text):
    known = said(text)
    return sorted(route for route in routes if re.sub(r"<[^>]*>", "{}", route) not in known)


def test_every_endpoint_is_in_the_papers():
    text = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    missing = missing_routes([route.path for route in all_routes()], text)
    assert missing == []


def test_an_endpoint_that_the_papers_do_not_name_is_found():
    text = "| `GET /a/{id}/versions`, `/{n}`, `/diff` | read |\n"
    routes = ["a/<id:pk>/versions", "a/<id:pk>/versions/<id:n>", "a/<id:pk>/versions/diff", "a/<id:pk>/copy"]
    assert missing_routes(routes, text) == ["a/<id:pk>/copy"]
