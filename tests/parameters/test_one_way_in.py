"""Only the operation of a proposal changes a parameter: no other code knows the service or writes the rows."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("agents", "common", "config", "evolution", "experiences", "prompt")
SERVICE = re.compile(r"evolution\.parameters(?:\.services| import services)")
WRITES = re.compile(r"\bParameter(?:Change)?\.objects\.(?:create|update|bulk|get_or)")


def files_with(pattern: re.Pattern) -> set[str]:
    files = (file for room in ROOMS for file in (ROOT / room).rglob("*.py"))
    return {str(file.relative_to(ROOT)) for file in files if pattern.search(file.read_text(encoding="utf-8"))}


def test_the_service_is_called_by_the_operation_of_proposals_alone():
    assert files_with(SERVICE) == {"evolution/proposals/operations/parameters.py"}


def test_the_rows_are_written_by_the_service_alone():
    assert files_with(WRITES) == {"evolution/parameters/services.py"}


@pytest.mark.parametrize(
    "line",
    ["from evolution.parameters.services import set_parameter", "from evolution.parameters import services"],
)
def test_control_another_caller_would_be_seen(line):
    assert SERVICE.search(line)
