"""The form of an item. The services judge and write."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminDecimalFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldBooleanSwitchWidget,
)

from agents.admin.fields import BodyText, CodesField, LinesField, OneLine
from agents.admin.held import VersionedForm
from agents.selectors import get_agent
from common.admin import CountedTextarea
from common.companies.models import Company
from common.text import normalise_newlines
from evolution.knowledge.choices import Category
from evolution.knowledge.models import Knowledge
from evolution.knowledge.rules.values import LIMITS, TEXT_FIELDS

#: What the service takes under the name of the field.
_TAKEN = (*TEXT_FIELDS, "related", "enabled", "confidence")


class CodeText(forms.CharField):
    """A piece of code: its indentation stays as it is."""

    def __init__(self, *, limit: int, rows: int, **options: Any) -> None:
        widget = CountedTextarea(limit, rows=rows, attrs={"spellcheck": "false", "class": "fieldbook-code"})
        super().__init__(strip=False, required=False, widget=widget, **options)

    def to_python(self, value: Any) -> str:
        return normalise_newlines(super().to_python(value))

    def has_changed(self, initial: Any, data: Any) -> bool:
        return self.to_python(initial).rstrip() != self.to_python(data).rstrip()


def _part(name: str, label: Any, rows: int, **options: Any) -> BodyText:
    return BodyText(limit=LIMITS[name], rows=rows, label=label, required=False, **options)


class KnowledgeForm(VersionedForm):
    """All that a person may change of an item."""

    title = OneLine(label=_("Title"))
    category = forms.ChoiceField(
        label=capfirst(_("category")), choices=Category.choices, widget=UnfoldAdminSelectWidget
    )
    summary = _part("summary", capfirst(_("summary")), 4, help_text=_("This is what an agent is given."))
    details = _part("details", capfirst(_("details")), 6)
    tags = LinesField(
        label=capfirst(_("tags")), rows=3, help_text=_("One a line; at most 20 of 40 characters.")
    )
    references = LinesField(
        label=capfirst(_("references")), rows=3, help_text=_("One a line: #12, or an address.")
    )
    code_example = CodeText(label=capfirst(_("code example")), limit=LIMITS["code_example"], rows=6)
    code_language = OneLine(label=capfirst(_("language of the code")))
    related = CodesField(
        fold=str.lower,
        label=capfirst(_("related knowledge")),
        help_text=_("Codes, such as k-001, k-014."),
    )
    enabled = forms.BooleanField(
        label=capfirst(_("enabled")),
        required=False,
        widget=UnfoldBooleanSwitchWidget,
        help_text=_("Off: never handed to a runtime."),
    )
    confidence = forms.DecimalField(
        label=capfirst(_("confidence")),
        initial="0.7",
        widget=UnfoldAdminDecimalFieldWidget(attrs={"min": "0", "max": "1", "step": "0.001"}),
        help_text=_("From 0 to 1. What you set here is recorded as your word."),
    )

    class Meta:
        model = Knowledge
        fields = ("company", "agent", *_TAKEN)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if not self.is_new:
            self.initial["related"] = [other.code for other in self.instance.related.all()]

    def opened_version(self) -> int:
        return self.instance.version

    def changes(self) -> dict[str, Any]:
        """The values to store: all of a new item, else only those that were changed."""
        wanted = self.fields if self.is_new else self.changed_data
        return {name: self.cleaned_data[name] for name in _TAKEN if name in wanted}

    def agent_for(self, company: Company) -> Any:
        """The chosen agent as the company sees it; None for all agents. Errors: AGENT_NOT_FOUND."""
        agent = self.cleaned_data["agent"]
        return get_agent(company, agent.pk) if agent else None
