"""The picture of docs/map.md holds: rooms and floors import downwards, rules are pure."""

import ast
import configparser
import shutil
import subprocess
import sys
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = Path(sys.executable).parent / "lint-imports"
NOT_ROOMS = {"tests", "bench"}
#: What a pure rule may take from Django: a message in the reader's language.
ALLOWED_FROM_DJANGO = {"django.utils.translation"}
CLOCK = {"now", "utcnow", "today", "monotonic", "perf_counter", "time"}


def root_packages():
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter")
    return contracts["importlinter"]["root_packages"].split()


def lint_imports(folder):
    command = [str(TOOL), "--no-logo", "--no-cache"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return result.returncode, result.stdout + result.stderr


def copy_of_the_house(folder):
    for package in root_packages():
        shutil.copytree(
            ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__", "*.mo")
        )
    shutil.copy(ROOT / ".importlinter", folder)


def imported_names(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from {node.module} if node.module != "django" else {f"django.{a.name}" for a in node.names}


def impurities(source):
    """What neither a rule nor a module below it may do: take more of Django than messages, read the clock."""
    tree = ast.parse(source)
    of_django = {
        name for name in imported_names(tree) if name.split(".")[0] == "django"
    } - ALLOWED_FROM_DJANGO
    clock = {
        f"{ast.unparse(node.func)}()"
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CLOCK
    }
    return sorted(of_django | clock)


def test_every_import_contract_holds():
    code, output = lint_imports(ROOT)
    assert code == 0, output


def test_every_package_has_its_place_in_the_contracts():
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - NOT_ROOMS
    assert packages == set(root_packages())


@pytest.mark.parametrize(
    ("path", "line", "broken"),
    [
        ("common/errors.py", "import agents", "Rooms import downwards only BROKEN"),
        ("experiences/services.py", "import agents", "Rooms import downwards only BROKEN"),
        ("common/counters/services.py", "import common.receipts.services", "The ground floor"),
        ("common/receipts/models.py", "import common.receipts.services", "Floors inside a room"),
        ("common/receipts/a_new_module.py", "", "Floors inside a room"),
        ("common/a_new_module.py", "", "The ground floor"),
        ("common/receipts/rules.py", "import rest_framework", "Rules know no framework"),
        ("common/text.py", "import celery", "Rules know no framework"),
        ("common/receipts/services.py", "import config.urls", "Rooms import downwards only BROKEN"),
    ],
)
def test_a_wrong_import_breaks_its_contract(tmp_path, path, line, broken):
    copy_of_the_house(tmp_path)
    with (tmp_path / path).open("a", encoding="utf-8") as module:
        module.write(f"\n{line}\n")
    code, output = lint_imports(tmp_path)
    assert code != 0
    assert broken in output


def test_rules_and_all_they_stand_on_are_pure():
    graph = grimp.build_graph(*root_packages(), cache_dir=None)
    rules = {module for module in graph.modules if "rules" in module.split(".")}
    assert rules, "no rules found: the search is broken"
    below = rules.union(*(graph.find_upstream_modules(module) for module in rules))
    found = {}
    for module in below:
        file = ROOT.joinpath(*module.split("."))
        file = file / "__init__.py" if file.is_dir() else file.with_suffix(".py")
        if wrong := impurities(file.read_text(encoding="utf-8")):
            found[module] = wrong
    assert found == {}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from django.utils.translation import gettext_lazy as _", []),
        ("from datetime import datetime\ndef f(now: datetime): return now.isoformat()", []),
        ("from django.db import models", ["django.db"]),
        ("from django import forms", ["django.forms"]),
        ("import django.conf", ["django.conf"]),
        ("def f(): return datetime.now(UTC)", ["datetime.now()"]),
        ("def f(): return timezone.now()", ["timezone.now()"]),
        ("def f(): return date.today()", ["date.today()"]),
        ("def f(): return time.time()", ["time.time()"]),
    ],
)
def test_the_purity_check_sees_the_database_and_the_clock(source, expected):
    assert impurities(source) == expected
