"""Write agents as JSON that `import_agents` reads back."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agents.models import Agent
from agents.services.exporting import export_agent, export_collection
from common.archive import progress_bar
from common.companies.selectors import company_by_slug
from common.errors import ApplicationError
from common.file_writing import ORDINARY, write_text


class Command(BaseCommand):
    """`export_agents [--agent ID] [--company SLUG] [DIR | --output FILE]`."""

    help = (
        "Export agents as JSON: role definition, settings, experiences in order with their switches, "
        "documents. Not exported: versions, receipts, keys, user documents. `import_agents` reads it back. "
        "Without DIR and --output the JSON goes to standard output."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--agent", type=int, metavar="ID", help="Only this agent.")
        parser.add_argument("--company", metavar="SLUG", help="Only the agents of this company.")
        target = parser.add_mutually_exclusive_group()
        target.add_argument(
            "directory",
            nargs="?",
            type=Path,
            metavar="DIR",
            help="Write one file an agent, DIR/<company>/<id>-<name>.json; an older export is replaced.",
        )
        target.add_argument(
            "--output",
            type=Path,
            metavar="FILE",
            help="Write all agents to one file; an older one is replaced.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        agents = self._agents(options["company"], options["agent"])
        directory, output = options["directory"], options["output"]
        try:
            if directory is not None:
                _write_each(agents, directory)
            elif output is not None:
                write_text(output, _json(export_collection(agents)), mode=ORDINARY, overwrite=True)
            else:
                one = options["agent"] is not None
                self.stdout.write(_json(export_agent(agents[0]) if one else export_collection(agents)))
        except OSError as error:
            raise CommandError(f"Cannot write to {directory or output}: {error.strerror}") from error
        if directory or output:
            self.stdout.write(f"exported {len(agents)}")

    def _agents(self, slug: str | None, agent_id: int | None) -> Sequence[Agent]:
        agents = Agent.objects.live().select_related("company").order_by("company__slug", "id")
        if slug is not None:
            try:
                agents = agents.owned_by(company_by_slug(slug))
            except ApplicationError as error:
                raise CommandError(str(error.message)) from error
        if agent_id is not None:
            agents = agents.filter(pk=agent_id)
            if not agents.exists():
                raise CommandError(f"There is no agent {agent_id}{f' of {slug}' if slug else ''}.")
        return list(agents)


def _write_each(agents: Sequence[Agent], directory: Path) -> None:
    with progress_bar("agents", len(agents)) as advance:
        for agent in agents:
            folder = directory / agent.company.slug
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"{agent.pk}-{_file_part(agent.name)}.json"
            write_text(path, _json(export_agent(agent)), mode=ORDINARY, overwrite=True)
            advance(1)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def _file_part(name: str) -> str:
    """Letters and digits of a name, for people who look for a file; the id in front keeps it unique."""
    return re.sub(r"\W+", "-", name).strip("-_")[:40] or "agent"
