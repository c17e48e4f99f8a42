"""The versions of a document: read one, compare two, bring one back."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agents.admin.by_hand import Guard, confirm_by_hand, guard_of, may_pass
from agents.admin.comparison import Comparison, shown_texts
from agents.admin.history import chosen_numbers, history_page
from agents.admin.links import address
from agents.choices import Source
from agents.models import Document, DocumentVersion
from agents.rules.protection import Change
from agents.services.documents import restore_document_version
from agents.services.editing import Edit
from agents.services.protection import check_and_log
from common.admin import FieldbookAdmin, actor_of, visible
from common.errors import ApplicationError


class DocumentHistory(FieldbookAdmin):
    """History pages of a document."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        here = "<path:object_id>/history/"
        return [
            path(f"{here}compare/", view(self.compare_view), name="agents_document_compare"),
            path(f"{here}<int:number>/", view(self.version_view), name="agents_document_version"),
            path(f"{here}<int:number>/restore/", view(self.restore_view), name="agents_document_restore"),
            *super().get_urls(),
        ]

    def may_see_history(self, request: HttpRequest) -> bool:
        return request.user.has_perm("agents.view_documentversion")

    def _versioned(self, request: HttpRequest, object_id: str) -> Document:
        document = self.visible_object(request, object_id)
        if not self.may_see_history(request):
            raise PermissionDenied
        return document

    def _page_context(self, request: HttpRequest, document: Document, title: Any) -> dict[str, Any]:
        return {
            **self.admin_site.each_context(request),
            "title": title,
            "opts": self.opts,
            "original": document,
            "may_restore": self.has_change_permission(request, document),
            "history_url": reverse("admin:agents_document_history", args=[document.pk]),
            "compare_url": reverse("admin:agents_document_compare", args=[document.pk]),
            "receipts_url": address("admin:receipts_receipt_changelist", agent__id__exact=document.agent_id),
            "text_title": document.path,
        }

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        document = self._versioned(request, object_id)
        versions = DocumentVersion.objects.filter(document=document).defer("text").order_by("-number")
        context = {
            **self._page_context(request, document, _("History of %(name)s") % {"name": document.path}),
            **history_page(
                request,
                versions,
                lambda number: reverse("admin:agents_document_restore", args=[document.pk, number]),
                lambda number: reverse("admin:agents_document_version", args=[document.pk, number]),
            ),
        }
        return TemplateResponse(request, "agents/history.html", context)

    def version_view(self, request: HttpRequest, object_id: str, number: int) -> HttpResponse:
        document = self._versioned(request, object_id)
        version = _version(document, number)
        title = _("%(name)s: version %(number)d") % {"name": document.path, "number": number}
        context = {**self._page_context(request, document, title), "text": visible(version.text)}
        return TemplateResponse(request, "agents/document_version.html", context)

    def compare_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        document = self._versioned(request, object_id)
        old, new = (_version(document, number) for number in chosen_numbers(request))
        title = _("%(name)s: version %(old)d and version %(new)d")
        names = {"name": document.path, "old": old.number, "new": new.number}
        context = {
            **self._page_context(request, document, title % names),
            "old": old,
            "new": new,
            "comparison": _compared(old.text, new.text),
        }
        return TemplateResponse(request, "agents/compare.html", context)

    def restore_view(self, request: HttpRequest, object_id: str, number: int) -> HttpResponse:
        """A protected part needs the typed confirmation here as well."""
        document = self._versioned(request, object_id)
        if not self.has_change_permission(request, document):
            raise PermissionDenied
        version, current = _version(document, number), _version(document, document.current_version)
        change = Change(document.path, current.text, version.text)
        try:
            guard: Guard | ApplicationError = guard_of(document.agent, document.company, change)
        except ApplicationError as error:
            guard = error
        is_asked = isinstance(guard, Guard)
        return self.confirmed(
            request,
            title=_("Restore version %(number)d of %(name)s?") % {"number": number, "name": document.path},
            button=_("Restore"),
            lines=[_("Its text becomes the current text, as a new version.")],
            obj=document,
            perform=lambda: self._restored(request, document, number, guard),
            back=reverse("admin:agents_document_history", args=[document.pk]),
            hidden=[("base_version", str(document.current_version))],
            template="agents/restore.html",
            context={
                "comparison": _compared(current.text, version.text),
                "text_title": document.path,
                "protected": guard.lines if is_asked else [guard.message],
                "may_pass": is_asked and may_pass(guard, request.user),
                "confirmation_name": document.agent.name,
            },
        )

    def _restored(
        self, request: HttpRequest, document: Document, number: int, guard: Guard | ApplicationError
    ) -> str:
        if isinstance(guard, ApplicationError):
            raise guard  # no rule to ask, so nothing is known to be unprotected
        actor, now = actor_of(request), timezone.now()
        try:
            confirm_by_hand(guard, request.user, request.POST.get("confirmation", ""))
        except ApplicationError:
            check_and_log(
                agent=guard.agent,
                company=guard.company,
                changes=[guard.change],
                actor=actor,
                request="admin",
                now=now,
            )
            raise
        read = request.POST.get("base_version", "")
        expected = int(read) if read.isascii() and read.isdigit() else -1
        edit = Edit(actor=actor, now=now, source=Source.ADMIN, expected=(expected,))
        restore_document_version(document=document, number=number, edit=edit, request="admin", by_hand=True)
        return _("Version %(number)d is back, as a new version.") % {"number": number}


def _version(document: Document, number: int) -> DocumentVersion:
    version = DocumentVersion.objects.filter(document=document, number=number).first()
    if version is None:
        raise Http404
    return version


def _compared(old: str, new: str) -> Comparison:
    return Comparison(role=shown_texts(old, new), settings=[], rows=[], documents=[])
