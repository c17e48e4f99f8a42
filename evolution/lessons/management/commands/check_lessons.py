"""Check a change against the lessons."""

from __future__ import annotations

import json
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from common.actors import command_actor
from common.choices import GLOBAL_SLUG
from common.companies.selectors import company_by_slug
from common.errors import ApplicationError
from common.text import show_hidden
from evolution.lessons.rules.check_request import checked_check
from evolution.lessons.services.checking import check_and_store, check_answer, look_at_change


class Command(BaseCommand):
    """`check_lessons --files F ... [--subject S] [--reference R]`."""

    help = (
        "Say which lessons of a company a change meets and what of their checklists is open. Exits with 0 when "
        "the change passes, 1 when it wants attention, 2 on an error. With --reference the result is kept, as "
        "POST /lessons/check keeps it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--files",
            nargs="*",
            default=[],
            metavar="PATH",
            help="The changed files, also with commas; - reads them from standard input, one a line.",
        )
        parser.add_argument("--subject", metavar="TEXT", help="The first line of the commit message.")
        parser.add_argument("--body", metavar="TEXT", help="The rest of it; a code named here is cited.")
        parser.add_argument("--cited", metavar="CODES", help="Lessons that the change cites, with commas.")
        parser.add_argument(
            "--reference", metavar="TEXT", help="The change, e.g. its pull request or commit."
        )
        parser.add_argument(
            "--company", default=GLOBAL_SLUG, metavar="SLUG", help="Whose lessons (default: _global)."
        )
        parser.add_argument("--json", action="store_true", help="Print the answer of the API.")

    def handle(self, *args: Any, **options: Any) -> None:
        files = [line for name in options["files"] for line in _names(name)]
        values = {name: options[name] for name in ("subject", "body", "cited", "reference")}
        try:
            answer = self._answer({**values, "modified_files": files}, options["company"])
        except ApplicationError as error:
            where = error.errors[0].pointer.strip("/") + ": " if error.errors else ""
            raise CommandError(f"{where}{error.message}", returncode=2) from error
        if options["json"]:
            self.stdout.write(json.dumps(answer, ensure_ascii=False, indent=2))
        else:
            for line in _lines(answer):
                self.stdout.write(show_hidden(line))
        if answer["verdict"] != "pass":
            sys.exit(1)

    def _answer(self, values: dict[str, Any], slug: str) -> dict[str, Any]:
        company, now = company_by_slug(slug), timezone.now()
        request = checked_check(values, needs_reference=False)
        if request.reference:
            return check_and_store(
                company=company, request=request, actor=command_actor("check_lessons"), now=now
            )
        return check_answer("", look_at_change(company=company, request=request, now=now))


def _names(name: str) -> list[str]:
    return sys.stdin.read().splitlines() if name == "-" else name.split(",")


def _lines(answer: dict[str, Any]) -> list[str]:
    lines = [f"verdict: {answer['verdict']}"]
    for lesson in answer["lessons"]:
        lines.append(f"{lesson['id']} [{lesson['severity']}] {lesson['title']}")
        lines += [f"    file {path}" for path in lesson["matched_files"]]
        lines += [f"    open {item['item']}: {item['text']}" for item in lesson["open_items"]]
    if answer["missing_citations"]:
        lines.append(f"not cited: {', '.join(answer['missing_citations'])}")
    if answer["fix_without_lesson"]:
        lines.append("a fix without a lesson")
    return [*lines, *answer["markdown"].splitlines()]
