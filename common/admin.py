"""Bases of every admin page: scoped to companies, writing only through services, verbs by POST.

This module imports no room: a model's queryset says what a person may see (`seen_by`), its `company` says who
may change it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db import models
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.widgets import UnfoldAdminTextareaWidget

from common.actors import Actor, Channel
from common.errors import ApplicationError

#: Session key of the company chosen in the header; empty shows all that the person may see.
CHOSEN_COMPANY = "company"


def actor_of(request: HttpRequest) -> Actor:
    """The signed-in person as an actor."""
    user = request.user
    return Actor(name=user.get_username(), channel=Channel.ADMIN, user_id=user.pk)


class CountedTextarea(UnfoldAdminTextareaWidget):
    """A textarea with a live counter of code points (a newline counts 1).

    No `maxlength` on purpose: browsers count UTF-16 units and would block 300 emoji.
    """

    def __init__(self, limit: int, rows: int = 2, attrs: dict[str, Any] | None = None) -> None:
        super().__init__(
            {"rows": rows, "data-limit": str(limit), "class": "fieldbook-counted", **(attrs or {})}
        )

    def build_attrs(
        self, base_attrs: dict[str, Any], extra_attrs: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        attrs = super().build_attrs(base_attrs, extra_attrs)
        attrs.pop("maxlength", None)
        return attrs


class FieldbookAdmin(ModelAdmin):
    """An admin page whose rows belong to a company (directly, through `company_lookup`, or to none: None).

    What may be seen comes from the queryset's `seen_by(user)`; what may be changed needs membership too.
    Writes go through services: subclasses override `save_model` and `delete_model`; nothing else writes.
    """

    company_lookup: str | None = "company"
    list_per_page = 50
    show_full_result_count = False
    compressed_fields = True
    warn_unsaved_form = True
    actions: Sequence[str] = ()

    def get_queryset(self, request: HttpRequest) -> models.QuerySet:
        queryset = super().get_queryset(request)
        if hasattr(queryset, "seen_by"):
            queryset = queryset.seen_by(request.user)
        chosen = request.session.get(CHOSEN_COMPANY, "") if hasattr(request, "session") else ""
        if self.company_lookup and chosen and request.resolver_match and self._is_list(request):
            queryset = queryset.filter(**{f"{self.company_lookup}__slug": chosen})
        return queryset

    def _is_list(self, request: HttpRequest) -> bool:
        """The company chosen in the header narrows lists only; a link to any visible row still opens."""
        name = request.resolver_match.url_name if request.resolver_match else ""
        return bool(name) and name.endswith("_changelist")

    def company_of(self, obj: models.Model) -> Any:
        """The company a row belongs to; None when it belongs to none."""
        value: Any = obj
        for part in (self.company_lookup or "").split("__"):
            value = getattr(value, part, None) if part else None
        return value

    def may_write(self, request: HttpRequest, obj: models.Model | None) -> bool:
        """Whether the person is a member of the row's company (superusers are of all)."""
        if obj is None or self.company_lookup is None or request.user.is_superuser:
            return True
        company = self.company_of(obj)
        return company is not None and company.members.filter(pk=request.user.pk).exists()

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return super().has_change_permission(request, obj) and self.may_write(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return super().has_delete_permission(request, obj) and self.may_write(request, obj)

    def get_actions(self, request: HttpRequest) -> dict:
        """Without Django's "delete selected": it deletes past the services; pages that delete bring their own."""
        actions = super().get_actions(request)
        actions.pop("delete_selected", None)
        return actions

    def get_field_queryset(self, db: str | None, db_field: models.Field, request: HttpRequest) -> Any:
        """Choices of a relation: only rows that the person may see."""
        queryset = super().get_field_queryset(db, db_field, request)
        if queryset is None:
            queryset = db_field.remote_field.model._default_manager.all()
        return queryset.seen_by(request.user) if hasattr(queryset, "seen_by") else queryset

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """A refusal of a service becomes a message on the same page; nothing is stored."""
        try:
            return super().changeform_view(request, object_id, form_url, extra_context)
        except ApplicationError as error:
            show_error(request, error)
            return HttpResponseRedirect(request.get_full_path())

    def visible_object(self, request: HttpRequest, object_id: str) -> Any:
        """The row of this id if the person may see it; 404 otherwise, whatever the reason."""
        obj = self.get_object(request, unquote(str(object_id)))
        if obj is None or not self.has_view_permission(request, obj):
            raise Http404
        return obj

    def confirmed(
        self,
        request: HttpRequest,
        *,
        title: Any,
        perform: Callable[[], Any],
        back: str,
        obj: models.Model | None = None,
        lines: Iterable[Any] = (),
        button: Any = _("Confirm"),
        hidden: Iterable[tuple[str, str]] = (),
        dangerous: bool = False,
        context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """A verb: GET (or an unconfirmed POST) shows what will happen, a confirmed POST does it once.

        `perform` returns the message shown afterwards, or a response of its own; a refusal is shown as an
        error. `hidden` are fields to send along (the selected rows of a bulk action).
        """
        if obj is not None and not self.may_write(request, obj):
            raise PermissionDenied
        if request.method == "POST" and request.POST.get("confirmed") == "yes":
            try:
                outcome = perform()
            except ApplicationError as error:
                show_error(request, error)
                return HttpResponseRedirect(back)
            if isinstance(outcome, HttpResponse):
                return outcome
            messages.success(request, outcome)
            return HttpResponseRedirect(back)
        page = {
            **self.admin_site.each_context(request),
            "title": title,
            "opts": self.opts,
            "original": obj,
            "lines": list(lines),
            "button": button,
            "back": back,
            "hidden": list(hidden),
            "dangerous": dangerous,
            **(context or {}),
        }
        return TemplateResponse(request, "admin/confirm.html", page)

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> None:
        """Receipts tell what happened, for every door; Django's own log would know only this one."""

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> None:
        """See `log_addition`."""

    def log_deletions(self, request: HttpRequest, queryset: Any) -> None:
        """See `log_addition`."""


class ReadOnlyAdmin(FieldbookAdmin):
    """Rows that nobody changes here, not even a superuser."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def show_error(request: HttpRequest, error: ApplicationError) -> None:
    """Each fault of a refusal as one message."""
    for detail in dict.fromkeys(str(fault.detail) for fault in error.errors) or [str(error.message)]:
        messages.error(request, detail)


def add_form_errors(form: forms.Form, error: ApplicationError) -> None:
    """Put the faults of a refusal beside the fields they name; the rest above the form."""
    faults = error.errors or ()
    for fault in faults:
        name = fault.pointer.strip("/").split("/")[0]
        form.add_error(name if name in form.fields else None, str(fault.detail))
    if not faults:
        form.add_error(None, str(error.message))
