"""Print the lessons that matter for a task."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from agents.selectors import get_agent
from common.choices import GLOBAL_SLUG
from common.companies.selectors import company_by_slug
from common.errors import ApplicationError
from common.text import show_hidden
from evolution.lessons.rules.recall_request import checked_request
from evolution.lessons.selectors.recall import Match, Recalled, recall_lessons
from evolution.lessons.serializers.recall import recall_answer

FIELDS = ("task", "tags", "files", "agent", "top_k", "min_relevance", "why_not")


class Command(BaseCommand):
    """`recall_lessons [--task T] [--tags A,B] [--files F,G] [--json]`."""

    help = (
        "Print the lessons of a company that matter for a task, the best first, and why. The same answer as "
        "GET /lessons/recall; nothing is logged."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--task", metavar="TEXT", help="What is about to be done.")
        parser.add_argument("--tags", metavar="TAGS", help="Tags with commas between them.")
        parser.add_argument("--files", metavar="PATHS", help="Files with commas between them.")
        parser.add_argument(
            "--company", default=GLOBAL_SLUG, metavar="SLUG", help="Whose lessons (default: _global)."
        )
        parser.add_argument("--agent", metavar="NUMBER", help="Only lessons of this agent and of all agents.")
        parser.add_argument("--top-k", metavar="N", help="At most this many, from 1 to 50 (default 5).")
        parser.add_argument(
            "--min-relevance", metavar="SHARE", help="The least relevance, from 0 to 1 (default 0.3)."
        )
        parser.add_argument("--include-archived", action="store_true", help="Archived lessons too.")
        parser.add_argument("--include-superseded", action="store_true", help="Superseded lessons too.")
        parser.add_argument("--why-not", metavar="CODE", help="Say why this lesson is not in the answer.")
        parser.add_argument("--json", action="store_true", help="Print the answer of the API.")

    def handle(self, *args: Any, **options: Any) -> None:
        values = {name: options[name] for name in FIELDS}
        values |= {name: options[name] for name in ("include_archived", "include_superseded")}
        try:
            company = company_by_slug(options["company"])
            request = checked_request(values)
            agent = get_agent(company, request.agent_id) if request.agent_id is not None else None
            recalled = recall_lessons(company=company, request=request, now=timezone.now(), agent=agent)
        except ApplicationError as error:
            where = error.errors[0].pointer.strip("/") + ": " if error.errors else ""
            raise CommandError(f"{where}{error.message}") from error
        if options["json"]:
            self.stdout.write(json.dumps(recall_answer(recalled), ensure_ascii=False, indent=2))
        else:
            self._print(recalled)

    def _print(self, recalled: Recalled) -> None:
        for warning in recalled.warnings:
            self.stdout.write(_line(warning))
        for match in recalled.matches:
            for line in _lines(match):
                self.stdout.write(line)
        if recalled.why_not is not None:
            self.stdout.write(f"why not: {json.dumps(recalled.why_not, ensure_ascii=False, default=str)}")
        self.stdout.write(f"found {len(recalled.matches)} of {recalled.scanned}")


def _lines(match: Match) -> list[str]:
    lesson = match.lesson
    found = f"{match.relevance.value:.2f} {match.band:<8} {lesson.code} [{lesson.severity}] {lesson.title}"
    parts = [f"{name} {part:.2f}" for name, part in match.score.parts.items() if part]
    return [
        _line(found),
        _line(f"    {lesson.takeaway}"),
        f"    score {match.score.total:.2f} = ({' + '.join(parts)}) x {match.score.recency:.2f}",
        *(_line(f"    [ ] {item['text']}") for item in lesson.checklist),
    ]


def _line(text: str) -> str:
    """One line; a stored text must not steer the terminal."""
    return show_hidden(" ".join(text.splitlines()))
