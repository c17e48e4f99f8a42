"""Make the first administrator from the environment."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from common.accounts.services import create_first_admin
from common.actors import command_actor
from common.errors import ApplicationError

NAMES = {
    "/username": "FIELDBOOK_ADMIN_USERNAME",
    "/password": "FIELDBOOK_ADMIN_PASSWORD",
    "/email": "FIELDBOOK_ADMIN_EMAIL",
}


class Command(BaseCommand):
    """`create_first_admin`: everything it needs comes from the environment, so that no password is typed."""

    help = (
        "Make the first administrator (a superuser) from FIELDBOOK_ADMIN_USERNAME, FIELDBOOK_ADMIN_PASSWORD and "
        "FIELDBOOK_ADMIN_EMAIL (may be empty). Does nothing once there is a superuser, so it may run at every "
        "start. Empty names and weak passwords are refused."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            person = create_first_admin(
                username=settings.FIELDBOOK_ADMIN_USERNAME.strip(),
                password=settings.FIELDBOOK_ADMIN_PASSWORD,
                email=settings.FIELDBOOK_ADMIN_EMAIL.strip(),
                actor=command_actor("create_first_admin"),
                now=timezone.now(),
            )
        except ApplicationError as error:
            raise CommandError(f"{NAMES[error.errors[0].pointer]}: {error.message}") from error
        if person is None:
            self.stdout.write("There is an administrator already; nothing was changed.")
        else:
            self.stdout.write(f"Made the administrator {person.get_username()}.")
