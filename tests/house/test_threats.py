"""docs/threats.md names only tests that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAMED = re.compile(r"(tests/[a-z_/]+\.py)(?:::(test_[a-z0-9_]+))?")


def named_tests():
    return NAMED.findall((ROOT / "docs" / "threats.md").read_text(encoding="utf-8"))


def test_every_promise_names_a_test():
    rows = [
        line
        for line in (ROOT / "docs" / "threats.md").read_text(encoding="utf-8").splitlines()
        if line[:2] == "| "
    ]
    promises = [row for row in rows if "proved by" not in row]
    assert promises and all(NAMED.search(row) for row in promises)


def test_every_named_test_exists():
    missing = []
    for path, name in named_tests():
        file = ROOT / path
        if not file.is_file() or (name and f"def {name}(" not in file.read_text(encoding="utf-8")):
            missing.append(f"{path}::{name}" if name else path)
    assert not missing
