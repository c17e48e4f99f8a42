"""The drafts desk: one draft after the other, confirmed, rejected, edited or put off with one key or click.

GET only reads. Each decision is one POST to a service; a refusal shows the same page again, with the status of
the refusal and everything that was typed.
"""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from common.admin import actor_of, add_form_errors, show_error, visible
from common.errors import ApplicationError, invalid
from common.queues import Queue
from evolution.lessons.admin.desk_filter import LATER, PARTS, DeskFilter, later, put_off
from evolution.lessons.admin.form import DeskForm
from evolution.lessons.admin.page import LessonPage, whole
from evolution.lessons.admin.shown import word
from evolution.lessons.admin.verbs import CHANGE, CONFIRM, is_number
from evolution.lessons.choices import Severity, Source, Status
from evolution.lessons.models import Lesson
from evolution.lessons.selectors.drafts import draft_queue
from evolution.lessons.services.deciding import Decision, confirm, reject
from evolution.lessons.services.storing import change_lesson


class DraftsDesk(LessonPage):
    """The desk and what it posts to."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view

        def posted(route: str, handler: Any, name: str) -> URLPattern:
            return path(f"desk/{route}/", view(require_POST(handler)), name=f"lessons_lesson_desk_{name}")

        return [
            path("desk/", view(self.desk_view), name="lessons_lesson_desk"),
            posted("again", self.again_view, "again"),
            posted("<int:pk>/decide", self.decide_view, "decide"),
            posted("<int:pk>/edit", self.edit_view, "edit"),
            posted("<int:pk>/later", self.later_view, "later"),
            *super().get_urls(),
        ]

    def desk_view(self, request: HttpRequest) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        asked = request.GET.get("p", "")
        if not asked:
            return self._desk_page(request, None)
        lesson = self._asked_for(request, asked)
        if lesson is None or lesson.status != Status.DRAFT:
            told = _("%(code)s is no draft any more: it is %(status)s.")
            names = {"code": lesson.code, "status": lesson.get_status_display()} if lesson else {}
            messages.warning(request, told % names if lesson else _("There is no such lesson."))
            return HttpResponseRedirect(DeskFilter.of(request).url())
        return self._desk_page(request, lesson)

    def _asked_for(self, request: HttpRequest, asked: str) -> Lesson | None:
        if not (asked.isascii() and asked.isdigit() and len(asked) < 19):
            return None
        return whole(Lesson.objects.seen_by(request.user)).filter(pk=int(asked)).first()

    def _found(self, request: HttpRequest, pk: int, permission: str) -> Lesson:
        """The visible lesson; 404 otherwise, and 403 for who may not do this with it."""
        lesson = self._asked_for(request, str(pk))
        if lesson is None or not self.has_view_permission(request, lesson):
            raise Http404
        if not (request.user.has_perm(permission) and self.may_write(request, lesson)):
            raise PermissionDenied
        return lesson

    def _desk_page(
        self,
        request: HttpRequest,
        lesson: Lesson | None,
        *,
        error: ApplicationError | None = None,
        form: DeskForm | None = None,
    ) -> HttpResponse:
        chosen = DeskFilter.of(request)
        queue = draft_queue(chosen.waiting_for(request), lesson)
        current = lesson
        if current is None and queue.current is not None:
            current = whole(Lesson.objects.seen_by(request.user)).get(pk=queue.current.pk)
        shown = self.shown(request, current) if current else None
        if form is None and shown and shown.can_edit and request.GET.get("edit"):
            form = DeskForm(instance=shown.lesson)
        if error is not None and form is None:
            show_error(request, error)
        page = {
            **self.admin_site.each_context(request),
            "title": _("Drafts desk"),
            "queue": queue,
            "filter": chosen,
            "chips": list(chosen.chips(request)),
            "severities": Severity.choices[::-1],
            "sources": Source.choices,
            "completeness": PARTS.items(),
            "shown": shown,
            "form": form,
            "put_off": len(later(request)),
            "stale": error is not None and error.code == "VERSION_MISMATCH",
            "typed": request.POST if error is not None else {},
            "may_add": self.has_add_permission(request),
            **_links(chosen, queue, current),
        }
        return TemplateResponse(request, "lessons/desk.html", page, status=error.status if error else 200)

    def decide_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Confirm or reject the draft; then the next one."""
        lesson = self._found(request, pk, CONFIRM)
        chosen = DeskFilter.of(request)
        behind = draft_queue(chosen.waiting_for(request), lesson).next
        try:
            self._decide(request, lesson, request.POST.get("verb", ""), request.POST.get("version", ""))
        except ApplicationError as error:
            fresh = self._found(request, pk, CONFIRM)
            if fresh.status == Status.DRAFT:
                return self._desk_page(request, fresh, error=error)
            show_error(request, error)
        return HttpResponseRedirect(chosen.url(p=behind.pk if behind else None))

    def _decide(self, request: HttpRequest, lesson: Lesson, verb: str, version: str) -> None:
        """One decision through its service. Errors: those of the services; VALIDATION_ERROR for another verb."""
        decision = Decision(
            actor=actor_of(request),
            now=timezone.now(),
            reason=request.POST.get("reason", "") if verb == "reject" else "",
            expected=(int(version),) if is_number(version) else None,
        )
        if verb == "confirm":
            confirm(lesson_id=lesson.pk, decision=decision)
            messages.success(request, _("%(code)s confirmed.") % {"code": lesson.code})
        elif verb == "reject":
            reject(lesson_id=lesson.pk, decision=decision)
            messages.success(request, _("%(code)s rejected.") % {"code": lesson.code})
        else:
            raise invalid("/verb", _("Choose: confirm or reject."))

    def edit_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Save what was typed, and confirm the draft if that was asked for; what is saved stays saved."""
        lesson = self._found(request, pk, CHANGE)
        confirms = request.POST.get("verb") == "confirm"
        if confirms:
            self._found(request, pk, CONFIRM)
        chosen = DeskFilter.of(request)
        behind = draft_queue(chosen.waiting_for(request), lesson).next
        form = DeskForm(request.POST, instance=lesson)
        if not form.is_valid():
            return self._desk_page(request, lesson, form=form, error=invalid("/", ""))
        try:
            lesson = change_lesson(
                lesson_id=pk,
                changes=form.changes(),
                actor=actor_of(request),
                now=timezone.now(),
                expected=form.expected,
            )
        except ApplicationError as error:
            return self._edit_refused(request, pk, form, error)
        if not confirms:
            messages.success(request, _("%(code)s saved.") % {"code": lesson.code})
            return HttpResponseRedirect(chosen.url(p=pk))
        try:
            self._decide(request, lesson, "confirm", str(lesson.version))
        except ApplicationError as error:
            messages.warning(request, _("%(code)s saved, but not confirmed yet.") % {"code": lesson.code})
            show_error(request, error)
            return HttpResponseRedirect(chosen.url(p=pk, edit="yes"))
        return HttpResponseRedirect(chosen.url(p=behind.pk if behind else None))

    def _edit_refused(
        self, request: HttpRequest, pk: int, form: DeskForm, error: ApplicationError
    ) -> HttpResponse:
        """What was typed again, with what is wrong; for a stale save with what is stored now beside it."""
        fresh = self._found(request, pk, CHANGE)
        if fresh.status != Status.DRAFT:
            show_error(request, error)
            return HttpResponseRedirect(DeskFilter.of(request).url())
        add_form_errors(form, error)
        return self._desk_page(request, fresh, error=error, form=form)

    def later_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Put the draft off, for this person and session; nothing about the draft changes."""
        lesson = self._asked_for(request, str(pk))
        if lesson is None or not self.has_view_permission(request, lesson):
            raise Http404
        chosen = DeskFilter.of(request)
        behind = draft_queue(chosen.waiting_for(request), lesson).next
        put_off(request, lesson.pk)
        return HttpResponseRedirect(chosen.url(p=behind.pk if behind else None))

    def again_view(self, request: HttpRequest) -> HttpResponse:
        """Show what was put off again."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        request.session.pop(LATER, None)
        return HttpResponseRedirect(DeskFilter.of(request).url())


def _links(chosen: DeskFilter, queue: Queue[Lesson], current: Lesson | None) -> dict[str, Any]:
    """Addresses around the current draft, and the rows of the list."""

    def to(lesson: Lesson | None, **more: Any) -> str:
        return chosen.url(p=lesson.pk, **more) if lesson else ""

    rows = [*queue.before, *([current] if current else []), *queue.after]
    return {
        "next_url": to(queue.next),
        "previous_url": to(queue.previous),
        "earlier_url": to(queue.earlier),
        "later_url": to(queue.later),
        "here": to(current),
        "edit_url": to(current, edit="yes"),
        "rows": [
            {
                "lesson": row,
                "url": to(row),
                "is_current": row is current,
                "severity": word(row, "severity"),
                "title": visible(row.title),
                "agent": visible(row.agent.name) if row.agent else _("all agents of the company"),
            }
            for row in rows
        ],
    }
