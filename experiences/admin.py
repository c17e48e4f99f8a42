"""The rows of an agent on its admin page: typed, switched, moved and deleted in one form with the agent.

The page shows and checks; the agent's own save writes (`agents.admin`), because it locks and versions the agent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.functional import cached_property
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.admin import TabularInline
from unfold.forms import PaginationInlineFormSet
from unfold.widgets import UnfoldBooleanSwitchWidget

from common.admin import CountedTextarea, visible
from common.text import clean, estimated_tokens, length, normalise_newlines, show_hidden
from experiences.models import Experience
from experiences.rules import MAX_LENGTH, RowInput, content_fault

#: Above this number the page hints that fewer rows steer better; nothing is refused.
HINT_ABOVE = 30


class RowText(forms.CharField):
    """The content of a row as it is stored; a newline counts 1, whatever the browser sends."""

    def __init__(self, **options: Any) -> None:
        widget = CountedTextarea(MAX_LENGTH, attrs={"aria-label": _("Experience")})
        super().__init__(required=False, strip=False, widget=widget, **options)

    def clean(self, value: Any) -> str:
        text = normalise_newlines(value or "")
        fault = content_fault(text, "/content")
        if fault is not None:
            raise forms.ValidationError(str(fault.detail))
        return clean(text)

    def has_changed(self, initial: Any, data: Any) -> bool:
        return clean(initial or "") != clean(data or "")


class RowSwitch(UnfoldBooleanSwitchWidget):
    """A switch that a new row may leave out: absent is then on, as everywhere else."""

    is_new = False

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> bool:
        if self.is_new and f"{name}-shown" not in data and name not in data:
            return True
        return super().value_from_datadict(data, files, name)


class RowForm(forms.ModelForm):
    """One row. Nothing here writes, or asks the database about a single row."""

    content = RowText()
    enabled = forms.BooleanField(
        required=False, initial=True, widget=RowSwitch(attrs={"aria-label": _("Enabled")})
    )
    order = forms.IntegerField(required=False, widget=forms.HiddenInput)

    class Meta:
        model = Experience
        fields = ("content", "enabled", "order")

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.is_new:
            # The model's default of 0 would put every new row first.
            self.initial["order"] = None
        self.fields["enabled"].widget.is_new = self.is_new

    @property
    def is_new(self) -> bool:
        return self.instance.pk is None

    def has_changed(self) -> bool:
        """A new row without a letter is one that nobody wanted; it is left out without a complaint."""
        if self.is_new:
            return bool(self["content"].value())
        return super().has_changed()

    def _post_clean(self) -> None:
        """No model validation: the services check, and a constraint would cost a query a row."""

    @cached_property
    def text(self) -> str:
        """The content as it stands in the box."""
        return normalise_newlines(str(self["content"].value() or ""))

    @property
    def marked(self) -> SafeString | str:
        """The content with hidden characters made visible; empty when there are none."""
        return visible(self.text) if show_hidden(self.text) != self.text else ""

    @property
    def is_enabled(self) -> bool:
        return bool(self["enabled"].value())

    @property
    def is_deleted(self) -> bool:
        return "DELETE" in self.fields and bool(self["DELETE"].value())


@dataclass(frozen=True)
class RowSummary:
    """What stands above the rows; characters and tokens count enabled rows only."""

    total: int
    enabled: int
    characters: int
    tokens: int

    @property
    def is_long(self) -> bool:
        return self.enabled > HINT_ABOVE


class RowFormSet(PaginationInlineFormSet):
    """The rows of one agent, in the order of the page."""

    def add_fields(self, form: forms.ModelForm, index: int | None) -> None:
        """The id as a plain number: whose row it is, the service decides under the agent's lock."""
        super().add_fields(form, index)
        form.fields["id"] = forms.IntegerField(
            required=False, widget=forms.HiddenInput, initial=form.instance.pk
        )

    def clean(self) -> None:
        """Nothing beyond the single rows; Django would look for duplicates, which are allowed."""

    def wanted_rows(self) -> list[RowInput]:
        """What the rows shall be: in their order, new ones without a place last as typed.

        Rows that the form does not name stay where they are, so that a page cut short deletes nothing.
        """
        named: set[int] = set()
        placed: list[tuple[tuple[bool, int, int], RowInput]] = []
        for index, form in enumerate(self.forms):
            values = form.cleaned_data
            pk = values.get("id") or form.instance.pk
            named.add(pk)
            if values.get("DELETE") or (pk is None and not form.has_changed()):
                continue
            row = RowInput(id=pk, content=values["content"], enabled=values["enabled"])
            order = values.get("order")
            placed.append(((order is None, order or 0, index), row))
        for stored in self.get_queryset():
            if stored.pk not in named:
                row = RowInput(id=stored.pk, content=stored.content, enabled=stored.enabled)
                placed.append(((False, stored.order, -1), row))
        return [row for _place, row in sorted(placed, key=lambda pair: pair[0])]

    @property
    def in_order(self) -> list[RowForm]:
        """The forms as the page shows them: after a refused save in the order the person had made."""
        forms = list(enumerate(self.forms))
        return [form for _index, form in sorted(forms, key=self._shown_place)]

    def _shown_place(self, pair: tuple[int, RowForm]) -> tuple[bool, int, int]:
        index, form = pair
        value = str(form["order"].value() if form["order"].value() is not None else "")
        is_placed = value.isascii() and value.isdigit() and len(value) < 10
        return not is_placed, int(value) if is_placed else 0, index

    @cached_property
    def summary(self) -> RowSummary:
        shown = [form for form in self.forms if not form.is_deleted and (form.text or not form.is_new)]
        enabled = [clean(form.text) for form in shown if form.is_enabled]
        return RowSummary(
            total=len(shown),
            enabled=len(enabled),
            characters=sum(length(text) for text in enabled),
            tokens=estimated_tokens("\n".join(enabled)),
        )


class ExperienceInline(TabularInline):
    """The tab of the agent page. Its template moves rows in the form, by mouse, buttons and keyboard."""

    model = Experience
    form = RowForm
    formset = RowFormSet
    template = "agents/experience_rows.html"
    fields = ("content", "enabled", "order")
    ordering = ("order", "id")
    extra = 0
    max_num = 3000
    tab_title = _("Best-practice experience")

    @property
    def media(self) -> forms.Media:
        return forms.Media(js=["fieldbook/rows.js"])
