"""The page of one item: what became of it, a form over `change_knowledge`, its verbs, its place in the order."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from agents.admin.held import Held, HeldAdmin, differences
from agents.admin.importing import likely_company
from common.admin import actor_of, show_error
from common.companies.models import Company
from common.errors import ApplicationError
from evolution.knowledge.admin.form import KnowledgeForm
from evolution.knowledge.admin.shown import shown_item
from evolution.knowledge.admin.tab import KnowledgeTab
from evolution.knowledge.admin.verbs import CHANGE, KnowledgeVerbs
from evolution.knowledge.admin.words import shown_status
from evolution.knowledge.choices import KnowledgeSource, Status
from evolution.knowledge.models import Knowledge
from evolution.knowledge.rules.confidence import rounded
from evolution.knowledge.services.editing import change_knowledge, move_knowledge
from evolution.knowledge.services.storing import add_knowledge

#: What is decided only once the item is there stands beside this.
_SWITCH = ("code_language", "enabled")
_WHAT: tuple[Any, ...] = (
    "title",
    ("category", "confidence"),
    "summary",
    "details",
    _SWITCH,
    "code_example",
    ("tags", "references"),
    "related",
)


class KnowledgePage(HeldAdmin, KnowledgeVerbs):
    """One item."""

    form = KnowledgeForm
    autocomplete_fields = ("agent",)
    change_form_template = "knowledge/knowledge_change_form.html"

    def get_urls(self) -> list[URLPattern]:
        def posted(route: str, handler: Any, name: str) -> URLPattern:
            view = self.admin_site.admin_view(require_POST(handler))
            return path(f"<int:pk>/{route}/", view, name=f"knowledge_knowledge_{name}")

        return [
            posted("move", self.move_view, "move"),
            posted("switch", self.switch_view, "switch"),
            *super().get_urls(),
        ]

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        queryset = super().get_queryset(request).select_related("company", "agent")
        if self._is_list(request):
            return queryset
        rows = queryset.select_related("source", "anti_of", "anti_knowledge").prefetch_related("related")
        return rows.defer("agent__system_prompt")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """An archived item is restored first."""
        may = super().has_change_permission(request, obj)
        return may and (obj is None or obj.status != Status.ARCHIVED)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """It is archived; only the command purges."""
        return False

    def get_fieldsets(self, request: HttpRequest, obj: Knowledge | None = None) -> list:
        if obj is None:
            first = ["code_language" if name == _SWITCH else name for name in _WHAT]
            return [(None, {"fields": (("company", "agent"), *first)})]
        return [(None, {"fields": _WHAT})]

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        """A new item goes into a company that the person may change."""
        if db_field.name == "company":
            options["queryset"] = Company.objects.written_by(request.user).order_by("slug")
            options["initial"] = likely_company(request, options["queryset"])
        return super().formfield_for_foreignkey(db_field, request, **options)

    def save_related(self, request: HttpRequest, form: KnowledgeForm, formsets: Any, change: bool) -> None:
        """One service call."""
        who: dict[str, Any] = {"actor": actor_of(request), "now": timezone.now()}
        values = form.changes()
        if change:
            before = form.instance.status
            item = change_knowledge(
                knowledge_id=form.instance.pk, changes=values, expected=form.expected, **who
            )
            if before != Status.DRAFT and item.status == Status.DRAFT:
                told = _("%(code)s is a draft again: no agent is given it until somebody activates it.")
                messages.warning(request, told % {"code": item.code})
        else:
            item = self._added(request, form, values, who)
        form.instance.pk, form.instance.number, form.instance.title = item.pk, item.number, item.title

    def _added(
        self, request: HttpRequest, form: KnowledgeForm, values: dict[str, Any], who: dict[str, Any]
    ) -> Knowledge:
        company = form.cleaned_data["company"]
        item, is_new = add_knowledge(
            company=company,
            agent=form.agent_for(company),
            fields=values,
            source_type=KnowledgeSource.MANUAL,
            confidence=rounded(values["confidence"]),
            **who,
        )
        if not is_new:
            told = _("%(code)s says the same already; it was verified instead of doubled.")
            messages.warning(request, told % {"code": item.code})
        return item

    def held_by(self, request: HttpRequest, error: ApplicationError, object_id: str | None) -> Held:
        """For a stale save: what differs between the form and what is stored now."""
        if error.code == "VERSION_MISMATCH" and object_id:
            item = self.get_object(request, object_id)
            form = self.get_form(request, item, change=True)(request.POST, instance=item)
            form.is_valid()
            request.fieldbook_differences = differences(form)
        return Held(error=error)

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, obj: Any = None, **options: Any
    ) -> HttpResponse:
        if obj is not None:
            may_change = self.has_change_permission(request, obj)
            context |= {
                **shown_item(request, obj),
                "status_shown": shown_status(obj),
                "is_read_only": not may_change,
                "loses_confirmation": may_change and bool(obj.confirmed_sha256),
                "differences": getattr(request, "fieldbook_differences", []),
                "buttons": self._buttons(request, obj),
                "may_move": self._may_change(request, obj),
            }
        return super().render_change_form(request, context, *args, obj=obj, **options)

    def _buttons(self, request: HttpRequest, item: Knowledge) -> list[dict[str, Any]]:
        buttons = self.verbs_for(request, item)
        if request.user.has_perm("receipts.view_receipt"):
            history = reverse("admin:knowledge_knowledge_history", args=[item.pk])
            buttons.append({"title": _("Receipts"), "icon": "receipt_long", "link": history})
        return buttons

    def _may_change(self, request: HttpRequest, item: Knowledge) -> bool:
        may = request.user.has_perm(CHANGE) and self.may_write(request, item)
        return may and item.status != Status.ARCHIVED

    def _found(self, request: HttpRequest, pk: int) -> Knowledge:
        """The visible item; 403 for who may not change it."""
        item = self.visible_object(request, str(pk))
        if not (request.user.has_perm(CHANGE) and self.may_write(request, item)):
            raise PermissionDenied
        return item

    def move_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """One place up or down (`step` -1 or 1)."""
        item = self._found(request, pk)
        step = {"-1": -1, "1": 1}.get(request.POST.get("step", ""), 0)
        return self._answered(
            request,
            item,
            lambda: move_knowledge(knowledge_id=pk, step=step, actor=actor_of(request), now=timezone.now()),
        )

    def switch_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """On (`on` is yes) or off."""
        item = self._found(request, pk)
        changes = {"enabled": request.POST.get("on") == "yes"}
        return self._answered(
            request,
            item,
            lambda: change_knowledge(
                knowledge_id=pk, changes=changes, actor=actor_of(request), now=timezone.now()
            ),
        )

    def _answered(self, request: HttpRequest, item: Knowledge, perform: Any) -> HttpResponse:
        """Do it; then the tab of the agent's page anew where that asked, else the page of the item."""
        is_tab = "HX-Request" in request.headers and item.agent is not None
        try:
            perform()
        except ApplicationError as error:
            if is_tab:
                return self._tab(request, item, error)
            show_error(request, error)
        if is_tab:
            return self._tab(request, item)
        return HttpResponseRedirect(reverse("admin:knowledge_knowledge_change", args=[item.pk]))

    def _tab(
        self, request: HttpRequest, item: Knowledge, error: ApplicationError | None = None
    ) -> HttpResponse:
        assert item.agent is not None
        context = {"tab": KnowledgeTab(request, item.agent), "error": error.message if error else ""}
        return TemplateResponse(request, KnowledgeTab.template, context)

    def receipts_of(self, obj: Knowledge) -> str:
        return obj.code
