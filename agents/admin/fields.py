"""Form fields of the agent pages: texts and lists that come out as the services store them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib.admin.widgets import RelatedFieldWidgetWrapper
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from common.admin import CountedTextarea
from common.text import clean


def without_detours(field: Any) -> Any:
    """A choice without the buttons that leave the page for another one: what was typed would be lost."""
    if field is not None and isinstance(field.widget, RelatedFieldWidgetWrapper):
        field.widget.can_add_related = field.widget.can_change_related = False
        field.widget.can_view_related = field.widget.can_delete_related = False
    return field


class BodyText(forms.CharField):
    """A text of many lines: LF line ends, trimmed; its length is judged by the rules, not by the browser."""

    def __init__(self, *, limit: int, rows: int, attrs: dict[str, Any] | None = None, **options: Any) -> None:
        super().__init__(strip=False, widget=CountedTextarea(limit, rows=rows, attrs=attrs), **options)

    def to_python(self, value: Any) -> str:
        return clean(super().to_python(value))

    def has_changed(self, initial: Any, data: Any) -> bool:
        return clean(initial or "") != clean(data or "")


class LinesField(forms.CharField):
    """A list of short texts, one a line. Blank lines are left out; what was not touched counts as unchanged."""

    def __init__(self, *, rows: int = 3, **options: Any) -> None:
        options.setdefault("required", False)
        super().__init__(strip=False, widget=UnfoldAdminTextareaWidget(attrs={"rows": rows}), **options)

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> list[str]:
        return [line.strip() for line in clean(super().to_python(value)).split("\n") if line.strip()]

    def validate(self, value: Any) -> None:
        """An empty list is a list."""

    def run_validators(self, value: Any) -> None:
        """The rules check each entry."""

    def has_changed(self, initial: Any, data: Any) -> bool:
        return clean(str(self.prepare_value(initial or []))) != clean(data or "")


class OneLine(forms.CharField):
    """One line of text, as wide as the page; the rules judge its length."""

    def __init__(self, **options: Any) -> None:
        widget = UnfoldAdminTextInputWidget(attrs={"class": "fieldbook-wide"})
        super().__init__(widget=widget, **{"required": False, **options})


class CodesField(forms.CharField):
    """Codes with commas or spaces between them, each spelled by `fold`; comes out as a list."""

    def __init__(self, *, fold: Callable[[str], str], **options: Any) -> None:
        super().__init__(required=False, widget=UnfoldAdminTextInputWidget, **options)
        self.fold = fold

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        return [self.fold(code) for code in re.split(r"[\s,，、;；]+", super().to_python(value)) if code]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(sorted(initial or []) != sorted(self.to_python(data)))
