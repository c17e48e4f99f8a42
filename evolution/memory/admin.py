"""Phrases in the admin: seen by all staff, changed by administrators, written through the services."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import display

from common.admin import actor_of, add_form_errors, visible
from common.careful_admin import CarefulAdmin, CarefulForm
from common.errors import ApplicationError
from common.receipts.models import Receipt
from evolution.memory.models import Phrase
from evolution.memory.services import check_phrase, delete_phrase, save_phrase


class PhraseForm(CarefulForm):
    """A phrase; a text that cannot be one is refused beside its field."""

    class Meta:
        model = Phrase
        fields = ("kind", "language", "text", "enabled")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        wanted = {name: cleaned[name] for name in ("kind", "language", "text") if name in cleaned}
        if len(wanted) == 3:
            try:
                check_phrase(Phrase(pk=self.instance.pk, **wanted))
            except ApplicationError as error:
                add_form_errors(self, error)
        return cleaned

    def last_change(self) -> tuple[str, datetime] | None:
        receipt = Receipt.objects.about(f"phrases/{self.instance.pk}/").first()
        return (receipt.actor_name, receipt.at) if receipt else None


@admin.register(Phrase)
class PhraseAdmin(CarefulAdmin):
    """The words that are looked for in users' messages; the same for every company."""

    company_lookup = None
    form = PhraseForm
    list_display = ("shown_text", "kind", "language", "enabled", "updated_at")
    list_filter = (
        ("kind", ChoicesDropdownFilter),
        ("language", ChoicesDropdownFilter),
        ("enabled", admin.BooleanFieldListFilter),
    )
    search_fields = ("text", "key")
    fieldsets = ((None, {"fields": ("kind", "language", "text", "enabled", "seen")}),)

    @display(description=_("text"), ordering="key")
    def shown_text(self, obj: Phrase) -> SafeString:
        return visible(obj.text)

    def save_model(self, request: HttpRequest, obj: Phrase, form: PhraseForm, change: bool) -> None:
        save_phrase(phrase=obj, actor=actor_of(request), now=timezone.now())

    def delete_model(self, request: HttpRequest, obj: Phrase) -> None:
        delete_phrase(phrase=obj, actor=actor_of(request), now=timezone.now())

    def receipts_of(self, obj: Phrase) -> str:
        return f"phrases/{obj.pk}/"
