"""Bases of every admin page: scoped to companies, writing only through services, verbs by POST.

This module imports no room: a model's queryset says what a person may see (`seen_by`), its `company` says who
may change it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from django import forms
from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db import models
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.contrib.filters.admin import DropdownFilter
from unfold.widgets import UnfoldAdminTextareaWidget

from common.actors import Actor, Channel
from common.choices import GLOBAL_SLUG
from common.errors import ApplicationError
from common.marks import visible as visible
from common.text import forbidden_character

#: Session key of the company chosen in the header; empty shows all that the person may see.
CHOSEN_COMPANY = "company"
#: A bulk action names and sends along every row, so it takes a bounded number of them.
MAX_SELECTED = 2000
_NAMED = 50


def chosen_company(request: HttpRequest) -> str:
    """The slug of the company chosen in the header; empty for all."""
    session = getattr(request, "session", None)
    return session.get(CHOSEN_COMPANY, "") if session is not None else ""


def actor_of(request: HttpRequest) -> Actor:
    """The signed-in person as an actor."""
    user = request.user
    return Actor(name=user.get_username(), channel=Channel.ADMIN, user_id=user.pk)


class CountedTextarea(UnfoldAdminTextareaWidget):
    """A textarea with a live counter of code points (a newline counts 1).

    No `maxlength` on purpose: browsers count UTF-16 units and would block 300 emoji.
    """

    # Unfold's template puts the text right behind the tag, where browsers swallow a first line end.
    template_name = "django/forms/widgets/textarea.html"

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


class CompanyFilter(DropdownFilter):
    """By company, offering only those the person may see (Django's own filter would list every name)."""

    title = _("company")
    parameter_name = "company"

    def lookups(self, request: HttpRequest, model_admin: FieldbookAdmin) -> list[tuple[str, str]]:
        model = model_admin.model
        for part in str(model_admin.company_lookup).split("__"):
            model = model._meta.get_field(part).related_model
        self.lookup = model_admin.company_lookup
        companies = model._default_manager.seen_by(request.user).order_by("slug")
        return [(slug, f"{name} ({slug})") for slug, name in companies.values_list("slug", "name")]

    def queryset(self, request: HttpRequest, queryset: models.QuerySet) -> models.QuerySet:
        slug = self.value()
        if not slug:
            return queryset
        return (
            queryset.none()
            if forbidden_character(slug)
            else queryset.filter(**{f"{self.lookup}__slug": slug})
        )


class FieldbookAdmin(ModelAdmin):
    """An admin page whose rows belong to a company (directly, through `company_lookup`, or to none: None).

    What may be seen comes from the queryset's `seen_by(user)`; what may be changed needs membership too.
    Writes go through services: subclasses override `save_model` and `delete_model`; nothing else writes.
    """

    company_lookup: str | None = "company"
    #: Whether the list of a company chosen in the header holds the shared rows of `_global` too.
    list_shows_shared = False
    list_per_page = 50
    show_full_result_count = False
    compressed_fields = True
    warn_unsaved_form = True
    actions: Sequence[str] = ()

    def get_queryset(self, request: HttpRequest) -> models.QuerySet:
        queryset = super().get_queryset(request)
        if hasattr(queryset, "seen_by"):
            queryset = queryset.seen_by(request.user)
        chosen = chosen_company(request)
        if self.company_lookup and chosen and request.resolver_match and self._is_list(request):
            slugs = [chosen, GLOBAL_SLUG] if self.list_shows_shared else [chosen]
            queryset = queryset.filter(**{f"{self.company_lookup}__slug__in": slugs})
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
        if company is None:
            return False
        # A page asks this a dozen times; one query a company is enough.
        known = request.__dict__.setdefault("_fieldbook_writable", {})
        if company.pk not in known:
            known[company.pk] = company.members.filter(pk=request.user.pk).exists()
        return known[company.pk]

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return super().has_change_permission(request, obj) and self.may_write(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return super().has_delete_permission(request, obj) and self.may_write(request, obj)

    def get_actions(self, request: HttpRequest) -> dict:
        """Without Django's "delete selected", which deletes past the services; pages bring their own."""
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
        """A refusal of a service becomes a message; nothing is stored."""
        try:
            return super().changeform_view(request, object_id, form_url, extra_context)
        except ApplicationError as error:
            return self.refused(request, error, object_id, form_url, extra_context)

    def refused(
        self,
        request: HttpRequest,
        error: ApplicationError,
        object_id: str | None,
        form_url: str,
        extra_context: dict[str, Any] | None,
    ) -> HttpResponse:
        """The answer to a refused save: the same page again with the reason (after the rollback)."""
        show_error(request, error)
        return HttpResponseRedirect(request.get_full_path())

    def _get_obj_does_not_exist_redirect(self, request: HttpRequest, opts: Any, object_id: str) -> NoReturn:
        """A row that is not there for this person is 404; Django would go to the index and say so."""
        raise Http404

    def receipts_of(self, obj: Any) -> str:
        """What to search receipts for, to find those about `obj`; empty where a page has no history."""
        return ""

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The receipts about a row: Django's own log knows only this door and stays empty."""
        query = self.receipts_of(self.visible_object(request, object_id))
        if not query:
            raise Http404
        return HttpResponseRedirect(
            reverse("admin:receipts_receipt_changelist") + "?" + urlencode({"q": query})
        )

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, obj: Any = None, **kwargs: Any
    ) -> HttpResponse:
        if type(self).history_view is FieldbookAdmin.history_view and not (obj and self.receipts_of(obj)):
            context["show_history"] = False
        return super().render_change_form(request, context, *args, obj=obj, **kwargs)

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
        names: Iterable[Any] = (),
        button: Any = None,
        hidden: Iterable[tuple[str, str]] = (),
        dangerous: bool = False,
        context: dict[str, Any] | None = None,
        template: str = "admin/confirm.html",
    ) -> HttpResponse:
        """A verb: GET (or an unconfirmed POST) shows what will happen, a confirmed POST does it once.

        `perform` returns the message shown afterwards, or a response of its own; a refusal is shown as an
        error. `lines` are sentences, `names` the rows concerned, `hidden` fields to send along.
        """
        if obj is not None and not self.may_write(request, obj):
            raise PermissionDenied
        if request.method == "POST" and "yes" in (request.POST.get("confirmed"), request.POST.get("post")):
            return self._performed(request, perform, back)
        page = {
            "title": title,
            "original": obj,
            "lines": list(lines),
            "names": list(names),
            "button": button or _("Confirm"),
            "back": back,
            "hidden": list(hidden),
            "dangerous": dangerous,
        }
        site = {**self.admin_site.each_context(request), "opts": self.opts}
        return TemplateResponse(request, template, {**site, **page, **(context or {})})

    def _performed(self, request: HttpRequest, perform: Callable[[], Any], back: str) -> HttpResponse:
        try:
            outcome = perform()
        except ApplicationError as error:
            show_error(request, error)
            return HttpResponseRedirect(back)
        if isinstance(outcome, HttpResponse):
            return outcome
        messages.success(request, outcome)
        return HttpResponseRedirect(back)

    def confirmed_action(
        self,
        request: HttpRequest,
        queryset: models.QuerySet,
        *,
        perform: Callable[[list[Any]], Any],
        changes: bool = True,
        lines: Iterable[Any] = (),
        **options: Any,
    ) -> HttpResponse | None:
        """A bulk verb: the confirmation names the chosen rows, and `perform` gets their ids once confirmed.

        With `changes` every row must belong to a company that the person may change (403 otherwise).
        Further `options` are those of `confirmed`.
        """
        rows = list(queryset[: MAX_SELECTED + 1])
        if len(rows) > MAX_SELECTED:
            message = _("At most %(limit)d rows at once; choose fewer.") % {"limit": MAX_SELECTED}
            messages.error(request, message)
            return None
        companies = {company.pk: row for row in rows if (company := self.company_of(row)) is not None}
        if changes and not all(self.may_write(request, row) for row in companies.values()):
            raise PermissionDenied
        names = [str(row) for row in rows[:_NAMED]]
        if len(rows) > _NAMED:
            names.append(str(_("… and %(count)d more")) % {"count": len(rows) - _NAMED})
        chosen = [(ACTION_CHECKBOX_NAME, str(row.pk)) for row in rows]
        return self.confirmed(
            request,
            perform=lambda: perform([row.pk for row in rows]),
            back=request.get_full_path(),
            lines=lines,
            names=names,
            hidden=[("action", request.POST.getlist("action")[0]), *chosen],
            **options,
        )

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
