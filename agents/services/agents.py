"""Create, change, switch, copy and delete agents."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from agents.rules.fields import checked_fields, copy_name
from agents.selectors import body_documents
from agents.services.documents import create_first_documents
from agents.services.editing import Edit, check_version, edit_agent, keep_version, lock_agent, lock_agents
from common.companies.models import Company
from common.errors import ApplicationError, invalid
from common.receipts.choices import ReceiptType
from common.receipts.rules import Line
from common.receipts.services import write_receipt
from common.text import name_key
from experiences.models import Experience
from experiences.rules import RowInput
from experiences.services import sync_experiences


@transaction.atomic
def create_agent(
    *,
    company: Company,
    fields: Mapping[str, Any],
    edit: Edit,
    rows: Sequence[RowInput] | None = None,
    documents: Sequence[tuple[str, str]] = (),
) -> Agent:
    """Make an agent with its rows and first documents (path, text); it starts as version 1.

    Errors: VALIDATION_ERROR, AGENT_NAME_TAKEN, AGENT_EXPERIENCE_CONTENT_INVALID, AGENT_EXPERIENCE_ID_INVALID,
    PATH_INVALID.
    """
    for required in ("name", "system_prompt"):
        if fields.get(required) is None:
            checked_fields({required: ""})
    values = checked_fields(fields) | _owner(fields)
    _lock_names(company)
    agent = Agent(company=company)
    _apply(agent, values)
    _keep_one_default(agent, edit)
    agent.save()
    if rows:
        sync_experiences(agent_id=agent.pk, rows=rows, now=edit.now)
    create_first_documents(agent=agent, documents=documents, edit=edit)
    keep_version(agent, None, replace(edit, trigger="agent_created"))
    return agent


def update_agent(
    *,
    agent_id: int,
    fields: Mapping[str, Any],
    edit: Edit,
    rows: Sequence[RowInput] | None = None,
) -> Agent:
    """Change the given fields (None = leave) and, when `rows` is not None, make the rows exactly those.

    Everything is validated first; on an error neither the agent nor a row has changed.
    Errors: as `create_agent`, and AGENT_NOT_FOUND, VERSION_MISMATCH.
    """
    values = checked_fields(fields) | _owner(fields)
    with transaction.atomic():
        if "name" in values or values.get("is_default"):
            lock_names_of(agent_id)
        with edit_agent(agent_id, edit) as agent:
            if rows is not None:
                sync_experiences(agent_id=agent.pk, rows=rows, now=edit.now)
            change_fields(agent, values, edit)
    return agent


def change_fields(agent: Agent, values: Mapping[str, Any], edit: Edit) -> None:
    """Store checked fields of a locked agent. Errors: AGENT_NAME_TAKEN."""
    if not values:
        return
    _apply(agent, values)
    _keep_one_default(agent, edit)
    agent.save(update_fields=[*values, "name_key", "updated_at"])


def switch_agents(*, agent_ids: Collection[int], enabled: bool, edit: Edit) -> int:
    """Enable or disable agents; returns how many changed. One version and receipt each."""
    changed = 0
    with transaction.atomic():
        lock_agents(agent_ids)
        for agent_id in sorted(agent_ids):
            before = lock_agent(agent_id)
            if before.enabled != enabled:
                update_agent(agent_id=agent_id, fields={"enabled": enabled}, edit=edit)
                changed += 1
    return changed


@transaction.atomic
def copy_agent(*, source: Agent, company: Company, edit: Edit) -> Agent:
    """A new agent in `company` with the same role, tags, skills, body documents and rows (new ids, same order).

    Not copied: default flag, owner, keys, `users/**` documents, anything learned.
    Errors: AGENT_NOT_FOUND when the source was deleted meanwhile.
    """
    _lock_names(company)
    # Locked, so that role, rows and documents are those of one version.
    source = lock_agent(source.pk)
    taken = set(Agent.objects.live().owned_by(company).values_list("name_key", flat=True))
    fields = {
        name: getattr(source, name)
        for name in ("description", "system_prompt", "language", "tags", "skill_names")
    }
    rows = [
        RowInput(content=row.content, enabled=row.enabled) for row in Experience.objects.of_agent(source.pk)
    ]
    return create_agent(
        company=company,
        fields={**fields, "name": copy_name(source.name, taken)},
        edit=replace(edit, message=edit.message or str(_("Copy of %(name)s") % {"name": source.name})),
        rows=rows,
        documents=[(document.path, document.text) for document in body_documents(source)],
    )


@transaction.atomic
def copy_agents(*, sources: Sequence[Agent], company: Company, edit: Edit) -> list[Agent]:
    """A copy of each, in order; all or none."""
    return [copy_agent(source=source, company=company, edit=edit) for source in sources]


@transaction.atomic
def delete_agent(*, agent_id: int, edit: Edit) -> None:
    """Mark the agent deleted, delete its rows for good, free its name, revoke nothing else.

    Errors: AGENT_DEFAULT_UNDELETABLE, AGENT_NOT_FOUND, VERSION_MISMATCH.
    """
    agent = lock_agent(agent_id)
    check_version(agent, edit.expected)
    if agent.is_default:
        raise ApplicationError(
            "AGENT_DEFAULT_UNDELETABLE",
            _("The default agent cannot be deleted; make another agent the default first."),
        )
    deleted, _by_model = Experience.objects.of_agent(agent_id).delete()
    agent.deleted_at = edit.now
    agent.version += 1
    agent.save(update_fields=["deleted_at", "version", "updated_at"])
    write_receipt(
        company=agent.company,
        actor=edit.actor,
        type=ReceiptType.CHANGE,
        trigger="agent_deleted",
        at=edit.now,
        agent_id=agent.pk,
        agent_name=agent.name,
        lines=[Line(type="agent", target=f"agents/{agent.pk}", content=agent.name)],
        detail={"version": agent.version, "experiences_deleted": deleted},
    )


def _owner(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The owner as given: absent stays absent, None removes, a user id must be active staff."""
    if "owner_id" not in fields:
        return {}
    owner_id = fields["owner_id"]
    users = get_user_model().objects.filter(is_active=True, is_staff=True)
    if owner_id is not None and not users.filter(pk=owner_id).exists():
        raise invalid("/owner_id", _("No such person."))
    return {"owner_id": owner_id}


def _apply(agent: Agent, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        setattr(agent, name, value)
    agent.name_key = name_key(agent.name)
    taken = Agent.objects.live().owned_by(agent.company).filter(name_key=agent.name_key).exclude(pk=agent.pk)
    if taken.exists():
        raise invalid(
            "/name",
            _("An agent named “%(name)s” exists already; choose another name.") % {"name": agent.name},
            code="AGENT_NAME_TAKEN",
        )


def _lock_names(company: Company) -> None:
    """One writer of names and default flags per company at a time, so that no uniqueness race ends in a 500.

    Always before an agent is locked: tenant, then agent, then rows. `no_key`: see `lock_agent`.
    """
    Company.objects.select_for_update(no_key=True).get(pk=company.pk)


def lock_names_of(agent_id: int) -> None:
    """`_lock_names` for the company of an agent that is not locked yet."""
    company = Company.objects.filter(agents=agent_id).first()
    if company is not None:
        _lock_names(company)


def _keep_one_default(agent: Agent, edit: Edit) -> None:
    """Take the default flag from the company's other agent; that agent gets a version of its own."""
    if not agent.is_default:
        return
    others = Agent.objects.live().owned_by(agent.company).filter(is_default=True).exclude(pk=agent.pk)
    for other_id in list(others.values_list("pk", flat=True)):
        with edit_agent(other_id, replace(edit, expected=None)) as other:
            other.is_default = False
            other.save(update_fields=["is_default"])
