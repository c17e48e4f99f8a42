"""Bring an earlier version of an agent back."""

from __future__ import annotations

from dataclasses import replace

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from agents.choices import Source
from agents.models import Agent
from agents.selectors import RESTORED_SETTINGS, get_version
from agents.services.agents import change_fields, lock_names_of
from agents.services.editing import Edit, edit_agent
from experiences.services import restore_experiences


@transaction.atomic
def restore_version(*, agent_id: int, number: int, edit: Edit) -> Agent:
    """Make role, settings and rows those of version `number`; this is a new version of its own.

    Not restored: the default flag, the owner (they concern others) and documents, which have their own
    history. Errors: NOT_FOUND, AGENT_NAME_TAKEN when another agent took the old name, VERSION_MISMATCH.
    """
    message = edit.message or str(_("Restored version %(number)d") % {"number": number})
    edit = replace(edit, source=Source.RESTORE, message=message, trigger="agent_restored")
    lock_names_of(agent_id)
    with edit_agent(agent_id, edit) as agent:
        snapshot = get_version(agent, number).snapshot
        fields = {
            name: snapshot["settings"][name] for name in RESTORED_SETTINGS if name in snapshot["settings"]
        }
        change_fields(agent, {**fields, "system_prompt": snapshot["role"]}, edit)
        restore_experiences(agent_id=agent_id, rows=snapshot["rows"], now=edit.now)
    return agent
