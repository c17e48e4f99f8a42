"""Bring protection rules from a YAML file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from agents.services.importing import Outcome
from agents.services.protection_files import RuleLine, import_protection_rules
from common.actors import command_actor
from common.companies.selectors import company_by_slug
from common.errors import ApplicationError
from common.file_reading import read_text_file
from common.text import show_hidden


class Command(BaseCommand):
    """`import_protected_paths FILE [--company SLUG] [--dry-run]`."""

    help = (
        "Make or change the protection rules that a YAML file names (a list `protected_paths` of pattern, section, "
        "section_aliases, level, description, enabled); rules that it does not name stay. A file with a fault "
        "changes nothing and ends with status 1. Each change is a receipt. The last line counts."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="As `export_protected_paths` writes it.")
        parser.add_argument("--company", metavar="SLUG", help="Rules of this company (those for all).")
        parser.add_argument("--dry-run", action="store_true", help="Print the same report; store nothing.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            company = company_by_slug(options["company"]) if options["company"] else None
        except ApplicationError as error:
            raise CommandError(str(error.message)) from error
        try:
            lines = import_protection_rules(
                text=read_text_file(options["file"]),
                company=company,
                actor=command_actor("import_protected_paths"),
                now=timezone.now(),
                dry_run=options["dry_run"],
            )
        except ApplicationError as error:
            line = int(error.extra.get("line", 1))
            lines = [RuleLine(Outcome.FAILED, line, "", str(error.extra.get("reason", error.message)))]
        for told in lines:
            text = " ".join(": ".join(filter(None, (told.pattern, told.reason))).splitlines())
            self.stdout.write(f"{told.outcome:<9} {options['file'].name}:{told.line}  {show_hidden(text)}")
        counted = Counter(line.outcome for line in lines)
        self.stdout.write(
            f"found {len(lines)} imported {counted[Outcome.IMPORTED]} "
            f"skipped {counted[Outcome.SKIPPED]} failed {counted[Outcome.FAILED]}"
        )
        if counted[Outcome.FAILED]:
            raise CommandError("Nothing was stored: a rule of the file is faulty.")
        if options["dry_run"]:
            self.stderr.write("Nothing was stored.", str)
