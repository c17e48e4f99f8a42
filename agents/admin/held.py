"""Forms that are shown again as they were sent: after a refusal by a service, or to look before saving."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from agents.admin.comparison import Comparison, UnifiedDiff, compare
from agents.admin.fields import without_detours
from agents.models import Agent, AgentVersion
from common.admin import FieldbookAdmin, add_form_errors, visible
from common.errors import ApplicationError

#: Versions are positive integers of a database column.
MAX_VERSION = 2**31 - 1
#: Refusals that say this have a panel of their own above the form (`templates/agents/held.html`).
SHOWN_APART = {"current_version", "protected"}


@dataclass(frozen=True)
class Held:
    """Why a form that was sent is shown again although its fields are right; nothing was stored.

    Either a service refused (`error`; with `meanwhile`, what others saved since the page was opened), or the
    person asked what a save would change (`preview`).
    """

    error: ApplicationError | None = None
    meanwhile: Comparison | None = None
    preview: UnifiedDiff | Comparison | None = None
    is_preview: bool = False

    @property
    def current_version(self) -> int | None:
        """The version that a stale save met."""
        return self.error.extra.get("current_version") if self.error else None

    @property
    def changed_at(self) -> datetime | None:
        """When that version was saved."""
        moment = self.error.extra.get("changed_at") if self.error else None
        return datetime.fromisoformat(moment) if moment else None


class HeldForm(forms.ModelForm):
    """A form that the services judge; `held` is set on the class made for the request."""

    held: Held | None = None

    def is_valid(self) -> bool:
        return super().is_valid() and self.held is None

    def _post_clean(self) -> None:
        """No model validation: the services check, for every door alike."""
        error = self.held.error if self.held is not None else None
        if error is not None and not SHOWN_APART & error.extra.keys():
            add_form_errors(self, error)


class VersionedForm(HeldForm):
    """Carries the version the page was opened with, and after a refusal the one that the person has read."""

    base_version = forms.IntegerField(
        min_value=0,
        max_value=MAX_VERSION,
        widget=forms.HiddenInput,
        label="",
        error_messages={"required": _("This page does not say which version it shows; open it again.")},
    )
    seen_version = forms.IntegerField(
        required=False, min_value=0, max_value=MAX_VERSION, widget=forms.HiddenInput, label=""
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.is_new:
            del self.fields["base_version"], self.fields["seen_version"]
        else:
            self.initial["base_version"] = self.opened_version()

    @property
    def is_new(self) -> bool:
        return self.instance.pk is None

    def opened_version(self) -> int:
        """The version that an unsent form shows."""
        raise NotImplementedError

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        for name in ("base_version", "seen_version"):
            if name in self.errors:
                # The field is hidden, so its fault has to stand above the form.
                self.add_error(None, self.errors[name][0])
        return values

    @property
    def expected(self) -> tuple[int, ...] | None:
        """The versions that the person has read; None for something new."""
        if self.is_new:
            return None
        seen = self.cleaned_data.get("seen_version")
        return (self.cleaned_data["base_version"], *([] if seen is None else [seen]))


class HeldAdmin(FieldbookAdmin):
    """A page with a `HeldForm`; a subclass writes in `save_related`, with one service call."""

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any) -> Any:
        form = super().get_form(request, obj, change=change, **options)
        form.held = getattr(request, "fieldbook_held", None)
        return form

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        return without_detours(super().formfield_for_dbfield(db_field, request, **options))

    def save_form(self, request: HttpRequest, form: forms.ModelForm, change: bool) -> Any:
        return form.instance

    def save_model(self, request: HttpRequest, obj: Any, form: forms.ModelForm, change: bool) -> None:
        """All is written in `save_related`, where the rows of the page are known too."""

    def construct_change_message(
        self, request: HttpRequest, form: Any, formsets: Any, add: bool = False
    ) -> str:
        """Receipts tell what changed."""
        return ""

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: Any = None) -> HttpResponse:
        return self._shown_again(request, None) or super().response_add(request, obj, post_url_continue)

    def response_change(self, request: HttpRequest, obj: Any) -> HttpResponse:
        return self._shown_again(request, str(obj.pk)) or super().response_change(request, obj)

    def refused(
        self,
        request: HttpRequest,
        error: ApplicationError,
        object_id: str | None,
        form_url: str,
        extra_context: dict[str, Any] | None,
    ) -> HttpResponse:
        """The page as it was sent, with the reason; for a stale save also what was saved meanwhile."""
        request.fieldbook_held = self.held_by(request, error, object_id)
        return self._changeform_view(request, object_id, form_url, extra_context)

    def held_by(self, request: HttpRequest, error: ApplicationError, object_id: str | None) -> Held:
        """What to show about a refusal."""
        return Held(error=error)

    def _shown_again(self, request: HttpRequest, object_id: str | None) -> HttpResponse | None:
        if getattr(request, "fieldbook_held", None) is None:
            return None
        return self._changeform_view(request, object_id, "", None)

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **options: Any
    ) -> HttpResponse:
        context["held"] = getattr(request, "fieldbook_held", None)
        return super().render_change_form(request, context, *args, **options)


def stale(
    error: ApplicationError, base_version: str, agent_of: Callable[[], Agent | None]
) -> Comparison | None:
    """After a stale save: what others changed in the agent since `base_version`; None when that is unknown."""
    if error.code != "VERSION_MISMATCH" or not re.fullmatch("[0-9]{1,9}", base_version):
        return None
    agent = agent_of()
    if agent is None:
        return None
    numbers = [int(base_version), agent.version]
    found = AgentVersion.objects.filter(agent=agent, number__in=numbers)
    snapshots = {version.number: version.snapshot for version in found}
    return compare(*(snapshots[number] for number in numbers)) if len(snapshots) == 2 else None


def differences(form: forms.ModelForm) -> list[tuple[Any, SafeString, SafeString]]:
    """(label, stored now, as sent) of each field that the form would change."""
    values = []
    for name in form.changed_data:
        if name not in form.errors and not form[name].is_hidden:
            field = form.fields[name]
            old = _as_typed(field, form.get_initial_for_field(field, name))
            new = _as_typed(field, form.cleaned_data.get(name))
            values.append((field.label, visible(old), visible(new)))
    return values


def _as_typed(field: forms.Field, value: Any) -> str:
    """A value as its box shows it."""
    prepared = field.prepare_value(value)
    return "" if prepared is None else str(prepared)
