"""The page of one lesson: what it says and what became of it, a form over `change_lesson`, and its verbs."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agents.admin.held import Held, HeldAdmin, differences
from agents.admin.importing import likely_company
from agents.admin.links import address
from common.admin import actor_of, visible
from common.companies.models import Company
from common.errors import ApplicationError
from evolution.lessons.admin.files import file_response
from evolution.lessons.admin.form import LessonForm
from evolution.lessons.admin.shown import ShownLesson
from evolution.lessons.admin.verbs import CHANGE, CONFIRM, LessonVerbs, is_number, rule_ways
from evolution.lessons.choices import Status
from evolution.lessons.models import Lesson
from evolution.lessons.rules.lifecycle import DELETABLE
from evolution.lessons.services.deciding import Decision, delete_lesson
from evolution.lessons.services.storing import change_lesson, create_lesson

#: Recalls that the page of a lesson tells, the latest first.
SHOWN_RECALLS = 20
#: All that is shown of one lesson, in one query; its related lessons are a second.
WHOLE = (
    *("company", "agent", "repository", "supersedes", "superseded_by"),
    *("rule_experience", "rule_document"),
)
_DELETE_EXPLAINED = _("A deleted lesson is gone for good; its number is never used again.")
_WHAT: tuple[Any, ...] = (
    "title",
    ("type", "severity"),
    ("category", "date"),
    "agent",
    "what",
    "when",
    "how",
    "takeaway",
    "checklist",
)
_WHERE: tuple[Any, ...] = (
    ("tags", "trigger"),
    "related_files",
    ("related", "supersedes"),
    "references",
    ("expires_on", "expires_auto"),
)
_RULE: tuple[Any, ...] = ("rule_experience", "rule_document")
_SIGNAL: tuple[Any, ...] = (("signal", "model", "config_hash"),)


class LessonPage(HeldAdmin, LessonVerbs):
    """One lesson."""

    form = LessonForm
    autocomplete_fields = ("agent", "rule_experience", "rule_document")
    change_form_template = "lessons/lesson_change_form.html"

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.export_view)
        return [path("<int:pk>/export/", view, name="lessons_lesson_export"), *super().get_urls()]

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        queryset = super().get_queryset(request)
        return queryset if self._is_list(request) else whole(queryset)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """A rejected lesson stays as it was rejected."""
        may = super().has_change_permission(request, obj)
        return may and (obj is None or obj.status != Status.REJECTED)

    def get_fieldsets(self, request: HttpRequest, obj: Lesson | None = None) -> list:
        if obj is not None and not self.has_change_permission(request, obj):
            return []  # the page shows all of it above
        what: tuple[Any, ...] = ("company", *_WHAT) if obj is None else _WHAT
        return [
            (None, {"fields": what}),
            (_("Where it belongs"), {"fields": _WHERE}),
            (_("The rule it became"), {"fields": _RULE}),
            (_("Only for a boundary signal"), {"fields": _SIGNAL}),
        ]

    def get_readonly_fields(self, request: HttpRequest, obj: Lesson | None = None) -> tuple[str, ...]:
        return () if obj is None else ("company",)

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        """A new lesson goes into a company that the person may change."""
        if db_field.name == "company":
            options["queryset"] = Company.objects.written_by(request.user).order_by("slug")
            options["initial"] = likely_company(request, options["queryset"])
        return super().formfield_for_foreignkey(db_field, request, **options)

    def save_related(self, request: HttpRequest, form: LessonForm, formsets: Any, change: bool) -> None:
        """One service call."""
        who: dict[str, Any] = {"actor": actor_of(request), "now": timezone.now()}
        values = form.changes()
        if change:
            if "agent" in form.changed_data:
                values["agent"] = form.agent_for(form.instance.company)
            lesson = change_lesson(lesson_id=form.instance.pk, changes=values, expected=form.expected, **who)
        else:
            company = form.cleaned_data["company"]
            lesson = create_lesson(company=company, values=values, agent=form.agent_for(company), **who)
        form.instance.pk, form.instance.number, form.instance.title = lesson.pk, lesson.number, lesson.title

    def held_by(self, request: HttpRequest, error: ApplicationError, object_id: str | None) -> Held:
        """For a stale save: what differs between the form and what is stored now."""
        if error.code != "VERSION_MISMATCH" or not object_id:
            return Held(error=error)
        lesson = self.get_object(request, object_id)
        form = self.get_form(request, lesson, change=True)(request.POST, instance=lesson)
        form.is_valid()
        request.fieldbook_differences = differences(form)
        return Held(error=error)

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, obj: Any = None, **options: Any
    ) -> HttpResponse:
        if obj is not None:
            may_change = self.has_change_permission(request, obj)
            context |= {
                "shown": self.shown(request, obj),
                "is_read_only": not may_change,
                "without_article": may_change,
                "differences": getattr(request, "fieldbook_differences", []),
                "show_delete": obj.status in DELETABLE,
                "buttons": self._buttons(request, obj),
                "recalls": self._recalls(request, obj),
                "citations": [
                    (_reference(citation.reference), citation.is_open)
                    for citation in obj.citations.order_by("-is_open", "-pk")[:SHOWN_RECALLS]
                ],
                "decision_reason": visible(obj.decision_reason) if obj.decision_reason else "",
            }
        return super().render_change_form(request, context, *args, obj=obj, **options)

    def shown(self, request: HttpRequest, lesson: Lesson) -> ShownLesson:
        """The lesson with what this person may do."""
        may_write = self.may_write(request, lesson)
        return ShownLesson(
            lesson,
            may_decide=may_write and request.user.has_perm(CONFIRM),
            may_edit=may_write and request.user.has_perm(CHANGE),
            rule_ways=rule_ways(request, lesson) if may_write else (),
        )

    def _buttons(self, request: HttpRequest, lesson: Lesson) -> list[dict[str, Any]]:
        buttons = self.verbs_for(request, lesson)
        if lesson.status == Status.DRAFT:
            desk = f"{reverse('admin:lessons_lesson_desk')}?p={lesson.pk}"
            buttons.append({"title": _("On the drafts desk"), "icon": "inbox", "link": desk})
        export = reverse("admin:lessons_lesson_export", args=[lesson.pk])
        buttons.append({"title": f"{lesson.code}.md", "icon": "download", "link": export})
        if request.user.has_perm("receipts.view_receipt"):
            history = reverse("admin:lessons_lesson_history", args=[lesson.pk])
            buttons.append({"title": _("Receipts"), "icon": "receipt_long", "link": history})
        return buttons

    def _recalls(self, request: HttpRequest, lesson: Lesson) -> list[tuple[Any, ...]] | None:
        """(page, when, task, place, relevance, outcome, note), the latest first; None: not for this person."""
        if not request.user.has_perm("lessons.view_recalllog"):
            return None
        told = {True: _("helped"), False: _("did not help"), None: _("nobody said")}
        outcomes = lesson.recall_outcomes.select_related("recall").order_by("-id")[:SHOWN_RECALLS]
        return [
            (
                address("admin:lessons_recalllog_change", outcome.recall_id),
                outcome.recall.created_at,
                visible(" ".join(outcome.recall.task.split())[:120]),
                outcome.position,
                f"{outcome.relevance:.2f}",
                told[outcome.helped],
                visible(outcome.note),
            )
            for outcome in outcomes
        ]

    def export_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """The file of this lesson."""
        return file_response(self.visible_object(request, str(pk)))

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        lesson = self.visible_object(request, object_id)
        if not self.has_delete_permission(request, lesson):
            raise PermissionDenied
        page = reverse("admin:lessons_lesson_change", args=[lesson.pk])
        if lesson.status not in DELETABLE:
            messages.error(request, _("Only drafts and rejected lessons can be deleted."))
            return HttpResponseRedirect(page)
        return self.confirmed(
            request,
            title=_("Delete %(lesson)s?") % {"lesson": str(lesson)},
            lines=[_DELETE_EXPLAINED],
            button=_("Delete"),
            obj=lesson,
            hidden=[("version", str(lesson.version))],
            perform=lambda: self._deleted(request, lesson),
            back=page,
            dangerous=True,
        )

    def _deleted(self, request: HttpRequest, lesson: Lesson) -> HttpResponse:
        sent = request.POST.get("version", "")
        expected = (int(sent),) if is_number(sent) else None
        decision = Decision(actor=actor_of(request), now=timezone.now(), expected=expected)
        delete_lesson(lesson_id=lesson.pk, decision=decision)
        messages.success(request, _("%(code)s was deleted.") % {"code": lesson.code})
        return HttpResponseRedirect(reverse("admin:lessons_lesson_changelist"))

    def receipts_of(self, obj: Lesson) -> str:
        return obj.code


def whole(queryset: QuerySet) -> QuerySet:
    """Lessons with all that their pages show."""
    return queryset.select_related(*WHOLE).defer("agent__system_prompt").prefetch_related("related")


def _reference(reference: str) -> tuple[Any, str]:
    """What cites a lesson, and the search that finds a proposal of this code."""
    is_proposal = reference.startswith("EP-")
    url = address("admin:proposals_proposal_changelist", q=reference, status="all") if is_proposal else ""
    return visible(reference), url
