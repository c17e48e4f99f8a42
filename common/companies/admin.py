"""Companies and API keys in the admin; both write through the services only."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import models, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from unfold.contrib.filters.admin import DropdownFilter
from unfold.decorators import action, display
from unfold.enums import ActionVariant
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
)

from common.admin import CompanyFilter, FieldbookAdmin, actor_of, chosen_company
from common.careful_admin import CarefulAdmin, CarefulForm
from common.companies.choices import Scope
from common.companies.models import ApiKey, Company
from common.companies.services import (
    MAX_KEY_NAME,
    issue_api_key,
    revoke_api_key,
    save_company,
)
from common.receipts.models import Receipt
from common.text import clean, is_blank, length

#: Session key of the forms that issued a key: sent again (reload, double click) they issue no second one.
_SENT_FORMS = "api_key_forms"
_REMEMBERED_FORMS = 20
#: The longest life of a key that expires, in days.
MAX_DAYS = 3650
_AGENTS = ApiKey._meta.get_field("agent").related_model._default_manager
_REVOKE_WARNING = _("A runtime that uses the key is refused from now on. This cannot be undone.")
STATES = {
    "live": _("live"),
    "revoked": _("revoked"),
    "expired": _("expired"),
    "disabled": _("company disabled"),
}


def _visible_text(name: str) -> str:
    """A name, trimmed; ValidationError unless 1 to 100 visible characters."""
    name = clean(name)
    if is_blank(name) or length(name) > MAX_KEY_NAME:
        raise forms.ValidationError(_("The name needs 1 to 100 visible characters."))
    return name


class CompanyForm(CarefulForm):
    """Fields of a company; the choice of members is narrowed by `CompanyAdmin`."""

    class Meta:
        model = Company
        fields = ("slug", "name", "enabled", "members")
        widgets = {"members": UnfoldAdminCheckboxSelectMultipleWidget}

    def clean_name(self) -> str:
        return _visible_text(self.cleaned_data["name"])

    def last_change(self) -> tuple[str, datetime] | None:
        receipt = Receipt.objects.about(f"companies/{self.initial['slug']}/").first()
        return (receipt.actor_name, receipt.at) if receipt else None


@admin.register(Company)
class CompanyAdmin(CarefulAdmin):
    """Tenants and their members. `_global` keeps its slug, its name and stays enabled; nothing is deleted."""

    company_lookup = None
    form = CompanyForm
    list_display = ("name", "slug", "enabled", "member_count", "agent_count", "updated_at")
    list_filter = (("enabled", admin.BooleanFieldListFilter),)
    search_fields = ("slug", "name")
    ordering = ("slug", "id")
    fieldsets = ((None, {"fields": ("slug", "name", "enabled", "members", "seen")}),)

    def get_queryset(self, request: HttpRequest) -> models.QuerySet:
        return super().get_queryset(request).with_counts()

    def may_write(self, request: HttpRequest, obj: models.Model | None) -> bool:
        return obj is None or Company.objects.written_by(request.user).filter(pk=obj.pk).exists()

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Company | None = None) -> tuple[str, ...]:
        return ("slug", "name", "enabled") if obj is not None and obj.is_global else ()

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Members by name, without the links to add and edit people that the admin would put beside them."""
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if db_field.name == "members":
            field.widget = field.widget.widget
            field.label_from_instance = lambda person: person.get_full_name() or person.get_username()
        return field

    def save_model(self, request: HttpRequest, obj: Company, form: CompanyForm, change: bool) -> None:
        member_ids = [person.pk for person in form.cleaned_data["members"]]
        if not change and not request.user.is_superuser:
            # Otherwise the new company would vanish from the sight of the person who made it.
            member_ids.append(request.user.pk)
        save_company(company=obj, actor=actor_of(request), now=timezone.now(), member_ids=member_ids)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """The service has stored the members."""

    def receipts_of(self, obj: Company) -> str:
        return f"companies/{obj.slug}/"

    @display(description=_("members"), ordering="member_count")
    def member_count(self, obj: Company) -> int:
        return obj.member_count

    @display(description=_("agents"), ordering="agent_count")
    def agent_count(self, obj: Company) -> int:
        return obj.agent_count


class CompanyChoice(forms.ModelChoiceField):
    """A company by name and slug."""

    def label_from_instance(self, obj: Company) -> str:
        return f"{obj.name} ({obj.slug})"


class AgentChoice(forms.ModelChoiceField):
    """An agent, with its company in front: two companies may use one name."""

    def label_from_instance(self, obj: Any) -> str:
        return f"{obj.company.name} · {obj.name}"


class ApiKeyForm(forms.ModelForm):
    """A new key; `user`, set on the class made for a request, decides which companies are offered."""

    user: Any = None

    company = CompanyChoice(
        queryset=Company.objects.none(),
        label=_("Company"),
        widget=UnfoldAdminSelectWidget,
        empty_label=_("Select value"),
    )
    agent = AgentChoice(
        queryset=_AGENTS.none(),
        required=False,
        label=_("Agent"),
        widget=UnfoldAdminSelectWidget,
        empty_label=_("all agents of the company"),
        help_text=_("Choose one, and the key works for this agent only."),
    )
    scopes = forms.MultipleChoiceField(
        label=_("Scopes"),
        choices=Scope.choices,
        initial=[Scope.READ.value],
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        help_text=_("What the key may do; give no more than its runtime needs."),
    )
    expires_days = forms.IntegerField(
        label=_("Expires in days"),
        required=False,
        min_value=1,
        max_value=MAX_DAYS,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text=_("Empty: never."),
    )
    sent = forms.CharField(widget=forms.HiddenInput, required=False, label="")

    class Meta:
        model = ApiKey
        fields = ("name", "company", "agent", "scopes")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["company"].queryset = Company.objects.written_by(self.user)
        self.fields["agent"].queryset = _AGENTS.live().seen_by(self.user).select_related("company")
        self.fields["agent"].queryset = self.fields["agent"].queryset.order_by("company__slug", "name", "id")

    def get_initial_for_field(self, field: forms.Field, field_name: str) -> Any:
        if field_name == "sent":
            return secrets.token_hex(8)
        return super().get_initial_for_field(field, field_name)

    def clean_name(self) -> str:
        return _visible_text(self.cleaned_data["name"])

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        company, agent = cleaned.get("company"), cleaned.get("agent")
        if company and agent and not _AGENTS.live().readable_from(company).filter(pk=agent.pk).exists():
            self.add_error("agent", _("This agent belongs to another company."))
        return cleaned


class StateFilter(DropdownFilter):
    """Live, expired or revoked."""

    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return list(STATES.items())

    def queryset(self, request: HttpRequest, queryset: models.QuerySet) -> models.QuerySet:
        now = timezone.now()
        chosen = {
            "live": queryset.live(now),
            "revoked": queryset.exclude(revoked_at=None),
            "expired": queryset.filter(revoked_at=None, expires_at__lte=now),
            "disabled": queryset.filter(revoked_at=None, company__enabled=False),
        }
        return chosen.get(self.value(), queryset)


def state_of(key: ApiKey, now: datetime) -> str:
    """Which of `STATES` a key is in."""
    if key.revoked_at is not None:
        return "revoked"
    if key.expires_at is not None and key.expires_at <= now:
        return "expired"
    return "live" if key.company.enabled else "disabled"


@admin.register(ApiKey)
class ApiKeyAdmin(FieldbookAdmin):
    """Keys are issued and revoked, never edited; the text of a key is on one page, once."""

    form = ApiKeyForm
    list_display = ("name", "company", "prefix", "scope_names", "agent", "last_used_at", "expiry", "state")
    list_filter = (CompanyFilter, StateFilter)
    list_select_related = ("company", "agent")
    search_fields = ("name", "prefix")
    actions = ("revoke_selected",)
    actions_detail = ("revoke",)
    add_fieldsets = ((None, {"fields": ("name", "company", "agent", "scopes", "expires_days", "sent")}),)
    fieldsets = (
        (None, {"fields": ("name", "company", "works_for", "prefix", "scope_names", "state_name")}),
        (
            _("Times"),
            {"fields": ("created_at", "created_by", "expiry", "last_used_at", "revoked_at")},
        ),
    )
    readonly_fields = ("works_for", "scope_names", "expiry", "state_name")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_revoke_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm("companies.revoke_apikey")

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """No guessing of the stored hash by `?secret_hash__startswith=`."""
        return "secret_hash" not in lookup and super().lookup_allowed(lookup, value, request)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, change, **kwargs)
        form.user = request.user
        return form

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        chosen = Company.objects.written_by(request.user).filter(slug=chosen_company(request)).first()
        return {"company": chosen} if chosen else {}

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list:
        """No button to revoke what is revoked, or what another company's members may revoke."""
        key = self.get_object(request, str(object_id))
        live = key is not None and key.revoked_at is None and self.may_write(request, key)
        return super().get_actions_detail(request, object_id) if live else []

    def receipts_of(self, obj: ApiKey) -> str:
        return f"api_keys/{obj.prefix}"

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """A form sent twice issues one key."""
        if request.method == "POST" and request.POST.get("sent") in request.session.get(_SENT_FORMS, []):
            messages.warning(request, _("This form has issued its key already; the text is not shown again."))
            return HttpResponseRedirect(reverse("admin:companies_apikey_changelist"))
        single = {"show_save_and_add_another": False, "show_save_and_continue": False}
        return super().add_view(request, form_url, {**single, **(extra_context or {})})

    def save_model(self, request: HttpRequest, obj: ApiKey, form: ApiKeyForm, change: bool) -> None:
        now, days = timezone.now(), form.cleaned_data["expires_days"]
        key, text = issue_api_key(
            company=obj.company,
            name=obj.name,
            scopes=obj.scopes,
            actor=actor_of(request),
            now=now,
            agent_id=obj.agent_id,
            agent_name=obj.agent.name if obj.agent else "",
            expires_at=now + timedelta(days=days) if days else None,
        )
        obj.pk = key.pk
        obj.refresh_from_db()
        obj.text_shown_once = text
        sent = [*request.session.get(_SENT_FORMS, []), form.cleaned_data["sent"]]
        request.session[_SENT_FORMS] = sent[-_REMEMBERED_FORMS:]

    def response_add(self, request: HttpRequest, obj: ApiKey, post_url_continue: Any = None) -> HttpResponse:
        """The page with the key: the direct answer to the POST, so that the text is stored nowhere."""
        path = f"/api/v1/agents/{obj.agent_id}/prompt" if obj.agent_id else "/api/v1/me"
        page = {
            **self.admin_site.each_context(request),
            "title": _("API key issued"),
            "opts": self.opts,
            "key": obj,
            "text": obj.text_shown_once,
            "curl": f"curl -H 'Authorization: Bearer {obj.text_shown_once}' {request.build_absolute_uri(path)}",
        }
        response = TemplateResponse(request, "admin/companies/api_key_issued.html", page)
        response["Cache-Control"] = "no-store"
        return response

    @display(description=_("scopes"))
    def scope_names(self, obj: ApiKey) -> str:
        return ", ".join(obj.scopes)

    @display(description=_("agent"))
    def works_for(self, obj: ApiKey) -> Any:
        return obj.agent or _("all agents of the company")

    @display(description=_("expires"), ordering="expires_at")
    def expiry(self, obj: ApiKey) -> Any:
        return obj.expires_at or _("never")

    @display(description=_("state"))
    def state_name(self, obj: ApiKey) -> Any:
        return self.state(obj)[1]

    @display(
        description=_("state"),
        label={"live": "success", "revoked": "danger", "expired": "warning", "disabled": "warning"},
    )
    def state(self, obj: ApiKey) -> tuple[str, Any]:
        state = state_of(obj, timezone.now())
        return state, STATES[state]

    @action(
        description=_("Revoke"),
        permissions=["revoke"],
        url_path="revoke",
        icon="key_off",
        variant=ActionVariant.DANGER,
    )
    def revoke(self, request: HttpRequest, object_id: str) -> HttpResponse:
        key = self.visible_object(request, object_id)
        return self.confirmed(
            request,
            obj=key,
            title=_("Revoke API key"),
            lines=[_REVOKE_WARNING],
            names=[str(key)],
            button=_("Revoke"),
            dangerous=True,
            back=reverse("admin:companies_apikey_change", args=[key.pk]),
            perform=lambda: self._revoke(request, [key.pk]),
        )

    @admin.action(description=_("Revoke the selected keys"), permissions=["revoke"])
    def revoke_selected(self, request: HttpRequest, queryset: models.QuerySet) -> HttpResponse | None:
        return self.confirmed_action(
            request,
            queryset.filter(revoked_at=None),
            title=_("Revoke API keys"),
            lines=[_REVOKE_WARNING],
            button=_("Revoke"),
            dangerous=True,
            perform=lambda ids: self._revoke(request, ids),
        )

    def _revoke(self, request: HttpRequest, ids: list[int]) -> str:
        now = timezone.now()
        with transaction.atomic():
            for pk in ids:
                revoke_api_key(key_id=pk, actor=actor_of(request), now=now)
        return ngettext("%(count)d key revoked.", "%(count)d keys revoked.", len(ids)) % {"count": len(ids)}
