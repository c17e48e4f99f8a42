"""The form of the agent page. The services write; this form shows, counts and says what is wrong beside the field."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextInputWidget

from agents.admin.fields import BodyText, LinesField
from agents.admin.held import VersionedForm
from agents.models import Agent
from agents.rules.fields import MAX_DESCRIPTION, MAX_ROLE, checked_fields
from common.admin import add_form_errors
from common.errors import ApplicationError

#: Fields that a service takes under the same name; the owner goes by id.
SERVICE_FIELDS = (
    "name",
    "description",
    "system_prompt",
    "language",
    "enabled",
    "is_default",
    "inject_session_recaps",
    "introspection_enabled",
    "tags",
    "skill_names",
)


class AgentForm(VersionedForm):
    """An agent; what is hidden in it says which version was read."""

    system_prompt = BodyText(limit=MAX_ROLE, rows=18, label=_("Role definition"))
    description = BodyText(limit=MAX_DESCRIPTION, rows=2, label=_("Description"), required=False)
    tags = LinesField(label=_("Tags"), help_text=_("One a line; at most 20 of 30 characters."))
    skill_names = LinesField(
        label=_("Skills"), help_text=_("One a line. Skills shown in the prompt; empty shows all.")
    )
    message = forms.CharField(
        required=False,
        max_length=500,
        label=_("What and why (optional)"),
        help_text=_("Kept with the new version; it helps whoever reads the history."),
        widget=UnfoldAdminTextInputWidget(attrs={"class": "fieldbook-wide"}),
    )

    class Meta:
        model = Agent
        fields = (*SERVICE_FIELDS, "company", "owner")

    def opened_version(self) -> int:
        return self.instance.version

    def clean(self) -> dict[str, Any]:
        values = super().clean()
        try:
            checked_fields({name: values[name] for name in SERVICE_FIELDS if name in values})
        except ApplicationError as error:
            add_form_errors(self, error)
        return values

    def service_fields(self) -> dict[str, Any]:
        """The values to store: all of a new agent, else only those that were changed."""
        wanted = self.fields if self.is_new else self.changed_data
        fields = {name: self.cleaned_data[name] for name in SERVICE_FIELDS if name in wanted}
        if "owner" in wanted:
            owner = self.cleaned_data["owner"]
            fields["owner_id"] = owner.pk if owner else None
        return fields
