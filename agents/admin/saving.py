"""Save the agent page with one service call, or show what a save would change; a refusal keeps what was typed."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from django.utils.module_loading import import_string

from agents.admin.comparison import Comparison, UnifiedDiff, compare, unified_lines
from agents.admin.forms import AgentForm
from agents.admin.held import Held, HeldAdmin, stale
from agents.admin.merging import own_changes, own_rows
from agents.choices import Source
from agents.models import Agent, AgentVersion
from agents.selectors import snapshot
from agents.services.agents import create_agent, update_agent
from agents.services.editing import Edit
from common.admin import actor_of
from common.errors import ApplicationError
from experiences.admin import RowFormSet
from experiences.rules import RowInput
from experiences.selectors import rows_of

#: The submit button that stores nothing.
PREVIEW = "_preview_changes"


class AgentSaving(HeldAdmin):
    """The writing half of the agent page."""

    def save_related(self, request: HttpRequest, form: AgentForm, formsets: Any, change: bool) -> None:
        """Fields and rows in one service call: one version, one receipt, or nothing at all."""
        rows = wanted_rows(formsets)
        if PREVIEW in request.POST:
            preview = preview_of_save(form, rows) if change else None
            request.fieldbook_held = Held(preview=preview, is_preview=True)
            return
        edit = Edit(
            actor=actor_of(request),
            now=timezone.now(),
            source=Source.ADMIN,
            message=form.cleaned_data["message"],
            expected=form.expected,
        )
        fields = form.service_fields()
        if change:
            fields, rows = on_top(form, fields, rows)
            agent = update_agent(agent_id=form.instance.pk, fields=fields, rows=rows, edit=edit)
        else:
            agent = create_agent(company=form.cleaned_data["company"], fields=fields, rows=rows, edit=edit)
        form.instance.pk, form.instance.name = agent.pk, agent.name

    def held_by(self, request: HttpRequest, error: ApplicationError, object_id: str | None) -> Held:
        agents = Agent.objects.filter(pk=object_id)
        return Held(error=error, meanwhile=stale(error, request.POST.get("base_version", ""), agents.first))


def wanted_rows(formsets: list[forms.BaseFormSet]) -> list[RowInput] | None:
    """The rows as the page sent them; None when this person sees none."""
    found = (formset.wanted_rows() for formset in formsets if isinstance(formset, RowFormSet))
    return next(found, None)


def on_top(
    form: AgentForm, fields: dict[str, Any], rows: list[RowInput] | None
) -> tuple[dict[str, Any], list[RowInput] | None]:
    """After a refusal that the person has read: only their own changes, on top of what others saved."""
    if form.cleaned_data.get("seen_version") is None:
        return fields, rows
    number = form.cleaned_data["base_version"]
    opened = AgentVersion.objects.filter(agent=form.instance, number=number).first()
    if opened is None:
        return fields, rows
    owner = form.cleaned_data.get("owner")
    fields = own_changes(fields, owner.get_username() if owner else None, opened.snapshot)
    if rows is not None:
        stored = {
            row.pk: RowInput(id=row.pk, content=row.content, enabled=row.enabled)
            for row in rows_of(form.instance.pk)
        }
        rows = own_rows(rows, opened.snapshot, stored)
    return fields, rows


def preview_of_save(form: AgentForm, rows: list[RowInput] | None) -> UnifiedDiff | Comparison:
    """What the rendered prompt would gain and lose; without a prompt room, what of role and rows would."""
    agent = Agent.objects.select_related("company").get(pk=form.instance.pk)
    fields = form.service_fields()
    if settings.PROMPT_DIFF:
        text = import_string(settings.PROMPT_DIFF)(
            agent,
            agent.company,
            now=timezone.now(),
            role=fields.get("system_prompt"),
            name=fields.get("name"),
            language=fields.get("language"),
            skill_names=fields.get("skill_names"),
            rows=None if rows is None else [(row.content, row.enabled is not False) for row in rows],
        )
        return unified_lines(text)
    stored = snapshot(agent)
    wanted = {**stored, "role": fields.get("system_prompt", stored["role"])}
    if rows is not None:
        wanted["rows"] = [
            # A new row has no id yet; negative numbers are nobody's.
            {"id": row.id or -number, "content": row.content, "enabled": row.enabled is not False}
            for number, row in enumerate(rows, 1)
        ]
    return compare(stored, wanted)
