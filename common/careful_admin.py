"""Forms that refuse to overwrite what somebody else saved in the meantime, for rows without a version."""

from __future__ import annotations

import hashlib
from typing import Any

from django import forms
from django.db import models, transaction
from django.http import HttpRequest
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from common.admin import FieldbookAdmin


class CarefulAdmin(FieldbookAdmin):
    """A page with a `CarefulForm`."""

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """In a save the row is locked first, so that nobody saves between the comparison and the write."""
        obj = super().get_object(request, object_id, from_field)
        if obj is not None and request.method == "POST" and transaction.get_connection().in_atomic_block:
            obj.refresh_from_db(from_queryset=self.model._base_manager.select_for_update())
        return obj


class CarefulForm(forms.ModelForm):
    """Carries a digest of the values it was opened with; `seen` belongs into the page's fieldsets."""

    seen = forms.CharField(widget=forms.HiddenInput, required=False, label="")

    def get_initial_for_field(self, field: forms.Field, field_name: str) -> Any:
        return self.state() if field_name == "seen" else super().get_initial_for_field(field, field_name)

    def state(self) -> str:
        """Digest of the stored values; related rows count by their sorted ids."""
        values = {name: _comparable(value) for name, value in self.initial.items()}
        return hashlib.sha256(repr(sorted(values.items())).encode()).hexdigest()[:32]

    def last_change(self) -> tuple[str, Any] | None:
        """Who changed the row last, and when, if that is known."""
        return None

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if self.instance.pk is not None and cleaned.pop("seen", "") != self.state():
            who, when = self.last_change() or ("?", None)
            raise forms.ValidationError(
                _(
                    "%(who)s changed this in the meantime (%(when)s). Nothing was saved; open the page again "
                    "and repeat your change."
                )
                % {"who": who, "when": date_format(localtime(when), "DATETIME_FORMAT") if when else "–"}
            )
        return cleaned


def _comparable(value: Any) -> Any:
    """Related rows as their sorted ids; anything else, a list of texts too, as it is."""
    is_related = isinstance(value, list | models.QuerySet) and all(
        isinstance(item, models.Model) for item in value
    )
    return sorted(item.pk for item in value) if is_related else value
