"""Make an API key and show it, once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from agents.selectors import get_agent
from common.actors import command_actor
from common.companies.choices import Scope
from common.companies.selectors import company_by_slug
from common.companies.services import issue_api_key
from common.errors import ApplicationError

#: A key that outlives this is a key without expiry.
MAX_DAYS = 36_500


class Command(BaseCommand):
    """`issue_api_key --company SLUG --name NAME --scope SCOPE ... [--agent ID] [--expires-days N]`.

    It stands here and not beside the keys, because it must look an agent up.
    """

    help = (
        "Make an API key for a runtime. The key alone is the last line of standard output; it is shown this "
        "once and kept only as a hash. Send it as `Authorization: Bearer <key>`."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--company", required=True, metavar="SLUG", help="The company it acts for.")
        parser.add_argument("--name", required=True, help="What staff will know it by, 1 to 100 characters.")
        parser.add_argument(
            "--scope",
            required=True,
            nargs="+",
            action="extend",
            metavar="SCOPE",
            help=f"What it may do, one or several of: {', '.join(Scope.values)}.",
        )
        parser.add_argument("--agent", type=int, metavar="ID", help="Restrict it to one agent.")
        parser.add_argument("--expires-days", type=int, metavar="N", help="Days until it expires (never).")

    def handle(self, *args: Any, **options: Any) -> None:
        now, days = timezone.now(), options["expires_days"]
        if days is not None and not 1 <= days <= MAX_DAYS:
            raise CommandError(f"--expires-days must be from 1 to {MAX_DAYS}, and it is {days}.")
        try:
            company = company_by_slug(options["company"])
            agent = self._agent(company, options["agent"])
            key, text = issue_api_key(
                company=company,
                name=options["name"],
                scopes=options["scope"],
                actor=command_actor("issue_api_key"),
                now=now,
                agent_id=agent.pk if agent else None,
                agent_name=agent.name if agent else "",
                expires_at=now + timedelta(days=days) if days else None,
            )
        except ApplicationError as error:
            raise CommandError(str(error.message)) from error
        expiry = f"expires {key.expires_at:%Y-%m-%d %H:%M} UTC" if key.expires_at else "never expires"
        whose = f" for agent {agent.pk} ({agent.name})" if agent else ""
        self.stdout.write(
            f"API key “{key.name}” of {company.slug}{whose}: {', '.join(key.scopes)}; {expiry}."
        )
        self.stdout.write("Shown this once; keep it now:")
        self.stdout.write(text)

    def _agent(self, company: Any, agent_id: int | None) -> Any:
        if agent_id is None:
            return None
        try:
            return get_agent(company, agent_id)
        except ApplicationError as error:
            raise CommandError(f"Agent {agent_id} of {company.slug}: {error.message}") from error
