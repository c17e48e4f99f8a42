"""How every import command tells what became of each file."""

from __future__ import annotations

from django.core.management.base import BaseCommand

from agents.services.importing import ImportLine, ImportReport
from common.text import show_hidden


def print_import(command: BaseCommand, report: ImportReport, *, dry_run: bool) -> None:
    """A line a file with its warnings below, then the counts."""
    for line in report.lines:
        command.stdout.write(_shown(line))
        for warning in line.warnings:
            command.stdout.write(f"warning   {show_hidden(warning)}")
    command.stdout.write(report.summary)
    if dry_run:
        # Not among the lines of the report: those are the same as without a trial.
        command.stderr.write("Dry run: nothing was stored.", str)


def _shown(line: ImportLine) -> str:
    """`failed    notes.md:1  Name: why`; a name from a file must not steer the terminal."""
    told = ": ".join(part for part in (line.name, line.reason) if part)
    return f"{line.outcome:<9} {line.source}  {show_hidden(' '.join(told.splitlines()))}"
