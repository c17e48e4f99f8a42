"""Brings the built-in groups to the table in `config/roles.py`."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.models import Group, Permission


def sync_roles(**kwargs: Any) -> None:
    """Make the built-in groups exist with exactly the permissions of `settings.ROLE_PERMISSIONS`.

    Runs after `migrate`, when the permissions of all installed models exist. Names of permissions that do
    not exist (yet) are left out, so that a partial migrate works; a house test checks every name.
    """
    by_name = {
        f"{app}.{codename}": pk
        for pk, app, codename in Permission.objects.values_list("pk", "content_type__app_label", "codename")
    }
    for role, names in settings.ROLE_PERMISSIONS.items():
        group, _created = Group.objects.get_or_create(name=role)
        group.permissions.set(sorted(by_name[name] for name in names if name in by_name))
