"""The documents of agents: a list, and a page with the text; every save that changes it is a new version."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display
from unfold.widgets import UnfoldAdminTextInputWidget

from agents.admin.by_hand import confirm_by_hand, guard_of, rules_on
from agents.admin.comparison import Comparison, shown_texts
from agents.admin.document_history import DocumentHistory
from agents.admin.filters import AgentFilter, without_agent_texts
from agents.admin.held import Held, HeldAdmin, VersionedForm
from agents.choices import KIND_LABELS, Source
from agents.models import Agent, Document, DocumentVersion
from agents.rules.documents import MAX_TEXT, checked_text, with_line_ends_of
from agents.rules.paths import is_user_path, normalise_path, path_key
from agents.rules.protection import Change
from agents.services.documents import check_document_version, put_document
from agents.services.editing import Edit
from agents.services.protection import check_and_log, log_refusal
from common.admin import CompanyFilter, CountedTextarea, actor_of, chosen_company, visible
from common.companies.models import Company
from common.errors import ApplicationError
from common.text import normalise_newlines

#: What the log of protection checks names as the request.
REQUEST = "admin"


class DocumentForm(VersionedForm):
    """A document with its text. The browser sends CRLF; the line ends of the stored text come back on save."""

    text = forms.CharField(
        label=_("Text"),
        required=False,
        strip=False,
        widget=CountedTextarea(MAX_TEXT, rows=24, attrs={"data-exact": "yes", "spellcheck": "false"}),
    )
    note = forms.CharField(
        label=_("What and why (optional)"),
        required=False,
        max_length=500,
        widget=UnfoldAdminTextInputWidget(attrs={"class": "fieldbook-wide"}),
    )
    confirmation = forms.CharField(required=False, max_length=200, widget=forms.HiddenInput, label="")

    class Meta:
        model = Document
        fields = ("agent", "company", "path")
        help_texts = {"path": _("For example memory/notes.md, skills/NAME/SKILL.md or users/ID/profile.md.")}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if not self.is_new:
            self.initial["text"] = self.stored_text
        if "company" in self.fields:
            self.fields["company"].required = False

    def opened_version(self) -> int:
        return self.instance.current_version

    @cached_property
    def stored_text(self) -> str:
        return "" if self.is_new else text_of(self.instance)

    def wanted_text(self) -> str:
        """The text to store; what was not touched keeps its line ends to the letter."""
        sent = self.cleaned_data["text"]
        if normalise_newlines(sent) == normalise_newlines(self.stored_text):
            return self.stored_text
        return with_line_ends_of(self.stored_text, sent)


@admin.register(Document)
class DocumentAdmin(HeldAdmin, DocumentHistory):
    """Files of agents' bodies, and `users/**` files of the person's companies."""

    form = DocumentForm
    list_shows_shared = True
    list_display = ("path_shown", "agent_link", "company", "kind_name", "version_shown", "updated_at")
    list_display_links = ("path_shown",)
    list_filter = (CompanyFilter, AgentFilter)
    search_fields = ("path", "agent__name")
    ordering = ("path", "id")
    autocomplete_fields = ("agent",)
    change_form_template = "agents/document_change_form.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        documents = super().get_queryset(request).live().select_related("agent__company", "company")
        return without_agent_texts(documents)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """A document is emptied, not deleted: its history is part of the body."""
        return False

    def get_fieldsets(self, request: HttpRequest, obj: Document | None = None) -> list:
        if obj is None:
            return [(None, {"fields": (("agent", "company"), "path", "text", "note")})]
        about = ("agent_link", ("path_shown", "company"), ("version_shown", "updated_at"))
        if self.has_change_permission(request, obj):
            return [(None, {"fields": (*about, "text", "note")})]
        return [(None, {"fields": (*about, "text_shown")})]

    def get_readonly_fields(self, request: HttpRequest, obj: Document | None = None) -> tuple[str, ...]:
        shown = ("agent_link", "path_shown", "version_shown", "text_shown", "updated_at")
        return shown if obj is None else (*shown, "agent", "company", "path")

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        writable = Company.objects.written_by(request.user).order_by("slug")
        if db_field.name == "company":
            options["queryset"] = writable
            options["initial"] = writable.filter(slug=chosen_company(request)).first()
            options["help_text"] = _("Only for users/…: whose copy of the user's document it is.")
        if db_field.name == "agent":
            # A shared agent's users/** documents belong to the person's own company.
            readable = Agent.objects.live().seen_by(request.user)
            options["queryset"] = readable.select_related("company")
        return super().formfield_for_foreignkey(db_field, request, **options)

    def save_related(self, request: HttpRequest, form: DocumentForm, formsets: Any, change: bool) -> None:
        """One service call; a protected part needs the typed confirmation first."""
        agent, company, path = self._place(request, form, change)
        user, text = request.user, form.wanted_text()
        # Should the path or the rules refuse: what to log once the page's own transaction is undone.
        request.fieldbook_place = (agent, company, path)
        path = path if change else normalise_path(path)
        document = form.instance if change else None
        old = form.stored_text if document else None
        expected = form.expected or (0,)  # a new document must not exist yet
        check_document_version(document or existing(agent, company, path), expected)
        checked_text(path_key(path), text)
        guard = guard_of(agent, company, Change(path, old, text))
        request.fieldbook_guard = guard
        confirm_by_hand(guard, user, form.cleaned_data["confirmation"])
        edit = Edit(
            actor=actor_of(request),
            now=timezone.now(),
            source=Source.ADMIN,
            message=form.cleaned_data["note"],
            expected=expected,
        )
        written = put_document(
            agent=agent,
            company=company,
            path=path,
            text=text,
            edit=edit,
            request=REQUEST,
            note=form.cleaned_data["note"],
            by_hand=True,
        )
        form.instance.pk, form.instance.path = written.document.pk, written.document.path

    def _place(self, request: HttpRequest, form: DocumentForm, change: bool) -> tuple[Agent, Company, str]:
        if change:
            document = form.instance
            return document.agent, document.company, document.path
        agent, path = form.cleaned_data["agent"], form.cleaned_data["path"]
        chosen = form.cleaned_data.get("company")
        if chosen and is_user_path_like(path):
            if agent.company_id != chosen.pk and not agent.company.is_global:
                raise ApplicationError(
                    "COMPANY_FORBIDDEN", _("This agent belongs to another company; choose that one.")
                )
            return agent, chosen, path
        if not self._may_write_company(request, agent.company):
            raise ApplicationError(
                "COMPANY_FORBIDDEN",
                _(
                    "This agent belongs to a company that you may only read; choose a company for users/… documents."
                ),
            )
        return agent, agent.company, path

    def _may_write_company(self, request: HttpRequest, company: Company) -> bool:
        return Company.objects.written_by(request.user).filter(pk=company.pk).exists()

    def held_by(self, request: HttpRequest, error: ApplicationError, object_id: str | None) -> Held:
        """Refused checks are logged here, after the rollback: the log outlives what was refused."""
        now, actor = timezone.now(), actor_of(request)
        guard = getattr(request, "fieldbook_guard", None)
        if error.code == "PROTECTED_PATH" and guard is not None:
            check_and_log(
                agent=guard.agent,
                company=guard.company,
                changes=[guard.change],
                actor=actor,
                request=REQUEST,
                now=now,
            )
        place = getattr(request, "fieldbook_place", None)
        if error.code in ("PATH_INVALID", "PROTECTED_PATHS_UNAVAILABLE") and place is not None:
            agent, company, path = place
            log_refusal(
                agent=agent,
                company=company,
                path=path,
                reason=str(error.message),
                actor=actor,
                request=REQUEST,
                now=now,
            )
        if error.code != "VERSION_MISMATCH" or not object_id:
            return Held(error=error)
        return Held(
            error=with_author(error, object_id),
            meanwhile=text_changes(object_id, request.POST.get("base_version", "")),
        )

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, obj: Any = None, **options: Any
    ) -> HttpResponse:
        if obj is not None:
            context["protected_by"] = rules_on(obj.path, obj.company)
            context["history_url"] = (
                reverse("admin:agents_document_history", args=[obj.pk])
                if self.may_see_history(request)
                else ""
            )
        return super().render_change_form(request, context, *args, obj=obj, **options)

    @display(description=_("path"), ordering="path")
    def path_shown(self, document: Document) -> SafeString:
        return visible(document.path)

    @display(description=_("kind"), ordering="kind")
    def kind_name(self, document: Document) -> Any:
        return KIND_LABELS.get(document.kind, document.kind)

    @display(description=_("agent"), ordering="agent__name")
    def agent_link(self, document: Document) -> SafeString:
        url = reverse("admin:agents_agent_change", args=[document.agent_id])
        return format_html('<a href="{}#documents">{}</a>', url, visible(document.agent.name))

    @display(description=_("version"), ordering="current_version")
    def version_shown(self, document: Document) -> str:
        return f"v{document.current_version}"

    @display(description=_("Text"))
    def text_shown(self, document: Document) -> SafeString:
        return format_html('<pre class="fieldbook-text">{}</pre>', visible(text_of(document)))


def is_user_path_like(path: str) -> bool:
    """Whether the path, as typed, will be one of a user's documents; a faulty one is judged by the service."""
    try:
        return is_user_path(normalise_path(path))
    except ApplicationError:
        return False


def text_of(document: Document) -> str:
    """The current text."""
    return DocumentVersion.objects.get(document=document, number=document.current_version).text


def existing(agent: Agent, company: Company, path: str) -> Document | None:
    """The document that stands at a normalised path already."""
    return Document.objects.filter(agent=agent, company=company, path_key=path_key(path)).first()


def with_author(error: ApplicationError, document_id: str) -> ApplicationError:
    """A stale save, and who made the version that it met."""
    number = error.extra.get("current_version")
    last = DocumentVersion.objects.filter(document=document_id, number=number).first()
    if last is None:
        return error
    about = {"changed_by": last.author, "changed_at": last.created_at.isoformat()}
    return ApplicationError(error.code, error.message, error.errors, {**error.extra, **about})


def text_changes(document_id: str, base_version: str) -> Comparison | None:
    """What others changed in a document since the version that a page was opened with."""
    document = Document.objects.filter(pk=document_id).first()
    if document is None or not (base_version.isascii() and base_version.isdigit() and len(base_version) < 10):
        return None
    opened = DocumentVersion.objects.filter(document=document, number=int(base_version)).first()
    if opened is None:
        return None
    return Comparison(role=shown_texts(opened.text, text_of(document)), settings=[], rows=[], documents=[])
