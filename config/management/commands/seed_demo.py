"""Add demo data, and say how to get in."""

from __future__ import annotations

import os
import secrets
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from config.demo.access import access
from config.demo.seeding import Added, seed_demo

#: Known to everybody who reads this, so only the embedded profile uses it.
DEMO_PASSWORD = "fieldbook-demo"  # noqa: S105
DEFAULT_URL = "http://127.0.0.1:8000"


class Command(BaseCommand):
    """`seed_demo [--print-access] [--base-url URL] [--force]`."""

    help = (
        "Add two companies with agents in Chinese and English, shared agents, documents, proposals, lessons, "
        "knowledge, and a person of every role. What was added once is not added again, even if it was changed or "
        "deleted since."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--print-access",
            action="store_true",
            help="Print address, logins and a curl for a prompt, with a key that works.",
        )
        parser.add_argument(
            "--base-url",
            default=os.environ.get("FIELDBOOK_URL") or DEFAULT_URL,
            metavar="URL",
            help=f"Where the web server answers (FIELDBOOK_URL, else {DEFAULT_URL}).",
        )
        parser.add_argument(
            "--force",
            action="store_true",
            help="Add the data with the production settings too; the password is then a random one.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        production = settings.PROFILE == "production"
        if production and not options["force"]:
            raise CommandError("These are production settings, and demo data do not belong there (--force).")
        password = secrets.token_urlsafe(16) if production else DEMO_PASSWORD
        now = timezone.now()
        added = seed_demo(password=password, now=now)
        self.stdout.write(_told(added))
        if production and added.people:
            self.stdout.write(f"password of the {added.people} people, shown this once: {password}")
        if options["print_access"]:
            self._print_access(options["base_url"].rstrip("/"), password, now)

    def _print_access(self, url: str, password: str, now: Any) -> None:
        ways = access(password=password, now=now)
        self.stdout.write(f"\n  {url}/admin/\n")
        for name, role in ways.logins:
            self.stdout.write(f"  {name:<15}{password}   ({role})")
        if ways.key and ways.prompt_path:
            self.stdout.write("\nThe prompt of an agent, as its runtime gets it:\n")
            headers = f"-H 'Authorization: Bearer {ways.key}' -H 'Accept: text/plain'"
            self.stdout.write(f"  curl -s {headers} {url}{ways.prompt_path}")


def _told(added: Added) -> str:
    if not added.companies:
        return "The demo data are there already."
    return (
        f"demo data: companies {added.companies} people {added.people} agents {added.agents} "
        f"experiences {added.experiences} documents {added.documents} proposals {added.proposals} "
        f"lessons {added.lessons} knowledge {added.knowledge}"
    )
