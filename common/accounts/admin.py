"""People and roles in the admin."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.forms import UserCreationForm
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied
from django.db import models, transaction
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import DropdownFilter
from unfold.decorators import display
from unfold.forms import AdminPasswordChangeForm
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminPasswordWidget,
)

from common.accounts.choices import VERBS, role_hint, role_label
from common.accounts.models import User
from common.accounts.selectors import grantable_companies, grantable_roles, may_manage
from common.accounts.services import save_person
from common.admin import ReadOnlyAdmin, actor_of
from common.careful_admin import CarefulAdmin, CarefulForm
from common.companies.models import Company
from common.receipts.models import Receipt


class RoleChoice(forms.ModelMultipleChoiceField):
    """Roles as checkboxes, each with what it is for."""

    widget = UnfoldAdminCheckboxSelectMultipleWidget

    def label_from_instance(self, obj: Group) -> str:
        hint = role_hint(obj.name)
        return f"{role_label(obj.name)} – {hint}" if hint else obj.name


class CompanyChoice(forms.ModelMultipleChoiceField):
    """Companies as checkboxes."""

    widget = UnfoldAdminCheckboxSelectMultipleWidget

    def label_from_instance(self, obj: Company) -> str:
        return f"{obj.name} ({obj.slug})"


class PersonFields(forms.Form):
    """Roles and companies, narrowed to what `manager` (set on the class made for a request) may give."""

    manager: Any = None

    groups = RoleChoice(
        queryset=Group.objects.none(),
        required=False,
        label=_("Roles"),
        help_text=_("What the person may do."),
    )
    companies = CompanyChoice(
        queryset=Company.objects.none(),
        required=False,
        label=_("Companies"),
        help_text=_("Whose rows the person may see and change, as far as the roles allow."),
    )

    def narrow(self) -> None:
        self.fields["groups"].queryset = grantable_roles(self.manager)
        self.fields["companies"].queryset = grantable_companies(self.manager)

    def clean_companies(self) -> Any:
        companies = self.cleaned_data["companies"]
        if self.instance.pk is None and not companies and not self.manager.is_superuser:
            raise forms.ValidationError(_("Choose at least one company."))
        return companies


class NewPersonForm(PersonFields, UserCreationForm):
    """A new account with its first password."""

    class Meta(UserCreationForm.Meta):
        model = User
        fields = ("username", "first_name", "last_name", "email")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.narrow()
        for name in ("password1", "password2"):
            self.fields[name].widget = UnfoldAdminPasswordWidget(attrs={"autocomplete": "new-password"})


class PersonForm(PersonFields, CarefulForm):
    """An existing account; the password has a page of its own."""

    class Meta:
        model = User
        fields = ("username", "first_name", "last_name", "email", "is_active", "is_staff", "is_superuser")
        help_texts = {
            "is_active": _("Switch off instead of deleting; the person is signed out at once."),
            "is_staff": _("Off: the account stays, but opens nothing."),
            "is_superuser": _("May do everything, in every company."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.narrow()
        self.initial["groups"] = list(self.instance.groups.all())
        self.initial["companies"] = list(self.instance.companies.all())

    def last_change(self) -> tuple[str, datetime] | None:
        receipt = Receipt.objects.about(f"people/{self.initial['username']}/").first()
        return (receipt.actor_name, receipt.at) if receipt else None


class NewPasswordForm(AdminPasswordChangeForm):
    """Stores through the service; `PersonAdmin.get_object` says who does it."""

    def save(self, commit: bool = True) -> User:
        person = super().save(commit=False)
        request = person.changed_in
        return save_person(person=person, manager=request.user, actor=actor_of(request), now=timezone.now())


class RoleFilter(DropdownFilter):
    """By role."""

    title = _("role")
    parameter_name = "role"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        roles = Group.objects.order_by("name").values_list("pk", "name")
        return [(str(pk), role_label(name)) for pk, name in roles]

    def queryset(self, request: HttpRequest, queryset: models.QuerySet) -> models.QuerySet:
        value = self.value()
        if not value:
            return queryset
        known = dict(self.lookup_choices)
        return queryset.filter(groups=int(value)) if value in known else queryset.none()


class MemberFilter(DropdownFilter):
    """By company, offering only those the person may see."""

    title = _("company")
    parameter_name = "company"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        companies = Company.objects.seen_by(request.user).order_by("slug")
        return [(slug, f"{name} ({slug})") for slug, name in companies.values_list("slug", "name")]

    def queryset(self, request: HttpRequest, queryset: models.QuerySet) -> models.QuerySet:
        value = self.value()
        if not value:
            return queryset
        known = dict(self.lookup_choices)
        return queryset.filter(companies__slug=value) if value in known else queryset.none()


@admin.register(User)
class PersonAdmin(UserAdmin, CarefulAdmin):
    """Accounts of staff. Nobody gives or takes over more than they have; nobody is deleted, only deactivated."""

    company_lookup = None
    form = PersonForm
    add_form = NewPersonForm
    add_form_template = "admin/change_form.html"
    change_password_form = NewPasswordForm
    list_display = (
        "username",
        "full_name",
        "email",
        "role_names",
        "company_names",
        "is_active",
        "last_login",
    )
    list_filter = (RoleFilter, MemberFilter, "is_active")
    search_fields = ("username", "first_name", "last_name", "email")
    ordering = ("username",)
    filter_horizontal = ()
    readonly_fields = ("password_link", "role_names", "company_names", "last_login", "date_joined")
    add_fieldsets = (
        (None, {"fields": ("username", "first_name", "last_name", "email", "password1", "password2")}),
        (_("Rights"), {"fields": ("groups", "companies")}),
    )

    def get_queryset(self, request: HttpRequest) -> models.QuerySet:
        seen = models.Prefetch("companies", Company.objects.seen_by(request.user).order_by("slug"))
        return super().get_queryset(request).prefetch_related("groups", seen)

    def may_write(self, request: HttpRequest, obj: User | None) -> bool:
        return obj is None or may_manage(request.user, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        obj = super().get_object(request, object_id, from_field)
        if obj is not None:
            obj.changed_in = request
        return obj

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> Iterable[Any]:
        if obj is None:
            return self.add_fieldsets
        switches = ("is_active", "is_staff", *(("is_superuser",) if request.user.is_superuser else ()))
        rights = ("groups", "companies", "seen")
        if not self.has_change_permission(request, obj):
            switches, rights = ("is_active", "is_staff", "is_superuser"), ("role_names", "company_names")
        names = ("username", "first_name", "last_name", "email")
        return (
            (None, {"fields": (*names, "password_link")}),
            (_("Rights"), {"fields": (*switches, *rights)}),
            (_("Times"), {"fields": ("last_login", "date_joined")}),
        )

    def get_form(self, request: HttpRequest, obj: User | None = None, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, **kwargs)
        form.manager = request.user
        return form

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Rows are found by the listed filters only: no guessing of anything by `?field__startswith=`."""
        return lookup.startswith(("is_active", "role", "company"))

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        if not change:
            # Whoever is entered here is staff; runtimes have keys instead of accounts.
            obj.is_staff = True
        save_person(
            person=obj,
            manager=request.user,
            actor=actor_of(request),
            now=timezone.now(),
            role_ids=[role.pk for role in form.cleaned_data["groups"]],
            company_ids=[company.pk for company in form.cleaned_data["companies"]],
        )

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """The service has stored roles and companies."""

    def response_add(self, request: HttpRequest, obj: User, post_url_continue: Any = None) -> HttpResponse:
        """The form has asked everything, so it need not come again as Django's would."""
        return CarefulAdmin.response_add(self, request, obj, post_url_continue)

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:
        """404 for somebody the person may not see; the change and its receipt are one transaction."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        self.visible_object(request, id)
        with transaction.atomic():
            return super().user_change_password(request, id, form_url)

    def receipts_of(self, obj: User) -> str:
        return f"people/{obj.username}/"

    @display(description=_("name"), ordering="last_name")
    def full_name(self, obj: User) -> str:
        return obj.get_full_name()

    @display(description=_("roles"))
    def role_names(self, obj: User) -> str:
        return ", ".join(role_label(role.name) for role in obj.groups.all())

    @display(description=_("companies"))
    def company_names(self, obj: User) -> str:
        return ", ".join(company.name for company in obj.companies.all())

    @display(description=_("password"))
    def password_link(self, obj: User) -> str:
        url = reverse("admin:auth_user_password_change", args=[obj.pk])
        return format_html(
            '<a class="text-primary-600 underline" href="{}">{}</a>', url, _("Set a new password")
        )


admin.site.unregister(Group)


@admin.register(Group)
class RoleAdmin(ReadOnlyAdmin, GroupAdmin):
    """Roles and what they may do, in words; the built-in ones follow the program's own table."""

    company_lookup = None
    list_display = ("role", "purpose", "person_count")
    search_fields = ("name",)
    fields = ("role", "purpose", "rights")
    readonly_fields = fields
    filter_horizontal = ()

    def get_queryset(self, request: HttpRequest) -> models.QuerySet:
        seen = User.objects.seen_by(request.user).values("pk")
        counted = models.Count("user", filter=models.Q(user__in=seen), distinct=True)
        return super().get_queryset(request).annotate(person_count=counted)

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """The heading of the page is the row's own name, so the row carries it in the reader's language."""
        obj = super().get_object(request, object_id, from_field)
        if obj is not None:
            obj.stored_name, obj.name = obj.name, role_label(obj.name)
        return obj

    @display(description=_("role"), ordering="name")
    def role(self, obj: Group) -> str:
        return role_label(obj.name)

    @display(description=_("purpose"))
    def purpose(self, obj: Group) -> str:
        return role_hint(getattr(obj, "stored_name", obj.name))

    @display(description=_("people"), ordering="person_count")
    def person_count(self, obj: Group) -> int:
        return obj.person_count

    @display(description=_("permissions"))
    def rights(self, obj: Group) -> str:
        """One line a kind of row: what the role may do with it."""
        verbs: dict[str, list[str]] = {}
        permissions = obj.permissions.select_related("content_type").order_by("content_type__model", "id")
        for permission in permissions:
            model = permission.content_type.model_class()
            name = str(model._meta.verbose_name_plural) if model else permission.content_type.model
            verb = permission.codename.split("_")[0]
            verbs.setdefault(name, []).append(str(VERBS.get(verb, permission.name)))
        return format_html_join(
            "", "<p><b>{}</b>: {}</p>", ((name, " · ".join(v)) for name, v in verbs.items())
        )
