"""Print an agent's prompt."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from agents.models import Agent
from common.companies.selectors import company_by_slug
from common.errors import ApplicationError
from prompt.rules.requests import checked_request
from prompt.services import preview_prompt


class Command(BaseCommand):
    """`render_prompt AGENT [--task T] [--phase P] [--user U] [--company SLUG]`."""

    help = "Print the system prompt of an agent, exactly as a runtime gets it. Nothing is recorded."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("agent", type=int, metavar="AGENT", help="The agent's number.")
        parser.add_argument("--task", metavar="TEXT", help="What the runtime is about to do.")
        parser.add_argument("--phase", metavar="TEXT", help="The phase it is in.")
        parser.add_argument("--user", metavar="ID", help="Add this user's preferences and memory.")
        parser.add_argument(
            "--company", metavar="SLUG", help="For which company; without it the agent's own."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        agent = Agent.objects.live().select_related("company").filter(pk=options["agent"]).first()
        if agent is None:
            raise CommandError(f"There is no agent {options['agent']}.")
        try:
            request = checked_request(
                {"task": options["task"], "phase": options["phase"], "user_id": options["user"]}
            )
            company = company_by_slug(options["company"]) if options["company"] else agent.company
            prompt = preview_prompt(agent_id=agent.pk, company=company, request=request, now=timezone.now())
        except ApplicationError as error:
            where = error.errors[0].pointer.strip("/") + ": " if error.errors else ""
            raise CommandError(f"{where}{error.message}") from error
        for warning in prompt.rendered.warnings:
            self.stderr.write(self.style.WARNING(warning))
        if not agent.enabled:
            self.stderr.write(self.style.WARNING("This agent is disabled: a runtime gets 410 instead."))
        self.stdout.write(prompt.rendered.text, ending="")
