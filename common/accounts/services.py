"""Accounts: the first one, and every change within the authority of the person who makes it.

Changes leave a receipt in the chain of `_global`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime

from django.contrib.auth import get_user_model
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from common.accounts.models import User
from common.accounts.selectors import grantable_companies, grantable_roles, may_manage
from common.actors import Actor
from common.companies.models import Company
from common.companies.selectors import global_company
from common.companies.services import set_membership
from common.errors import ApplicationError, invalid
from common.receipts.choices import ReceiptType
from common.receipts.rules import Line
from common.receipts.services import write_receipt

FIELDS = ("username", "first_name", "last_name", "email", "is_active", "is_staff", "is_superuser")


@transaction.atomic
def create_first_admin(
    *, username: str, password: str, actor: Actor, now: datetime, email: str = ""
) -> User | None:
    """Make a superuser while there is none; None, and nothing changed, when there is one.

    Errors: VALIDATION_ERROR for an empty or impossible name, a taken name, a weak password, a bad e-mail.
    """
    people = get_user_model()
    if people.objects.filter(is_superuser=True).exists():
        return None
    person = people(username=username, email=email, is_staff=True, is_superuser=True)
    _check("username", lambda: person.clean_fields(exclude=["password", "email"]))
    _check("username", person.validate_unique)
    _check("email", lambda: person.clean_fields(exclude=["password", "username"]))
    if not password:
        raise invalid("/password", _("The password must not be empty."))
    _check("password", lambda: validate_password(password, person))
    person.set_password(password)
    return save_person(person=person, manager=person, actor=actor, now=now)


def _check(name: str, check: Callable[[], None]) -> None:
    try:
        check()
    except ValidationError as error:
        raise invalid(f"/{name}", " ".join(error.messages)) from error


@transaction.atomic
def save_person(
    *,
    person: User,
    manager: User,
    actor: Actor,
    now: datetime,
    role_ids: Collection[int] | None = None,
    company_ids: Collection[int] | None = None,
) -> User:
    """Store a new or changed account with its roles and companies; None leaves those as they are.

    `person` carries the new values, the hashed password included. Errors: PERMISSION_DENIED for more than
    `manager` may give or touch, VALIDATION_ERROR for locking oneself out.
    """
    before = User.objects.select_for_update().filter(pk=person.pk).first()
    _check_own_account(manager, before, person)
    if not manager.is_superuser:
        _check_authority(manager, before, person, role_ids, company_ids)
    person.save()
    lines = _changed_lines(before, person)
    if role_ids is not None:
        lines += _set_roles(person, role_ids)
    if company_ids is not None:
        _set_companies(person, company_ids, actor, now)
    if lines:
        write_receipt(
            company=global_company(),
            actor=actor,
            type=ReceiptType.CHANGE,
            trigger="person_created" if before is None else "person_changed",
            at=now,
            lines=lines,
        )
    return person


def _check_own_account(manager: User, before: User | None, person: User) -> None:
    if before is None or manager.pk != before.pk:
        return
    if not (person.is_active and person.is_staff and person.is_superuser == before.is_superuser):
        raise invalid("/is_active", _("You cannot lock yourself out; ask somebody else to do it."))


def _check_authority(
    manager: User,
    before: User | None,
    person: User,
    role_ids: Collection[int] | None,
    company_ids: Collection[int] | None,
) -> None:
    roles = set(grantable_roles(manager).values_list("pk", flat=True))
    companies = set(grantable_companies(manager).values_list("pk", flat=True))
    allowed = (
        (before is None or may_manage(manager, before))
        and not person.is_superuser
        and set(role_ids or ()) <= roles
        and set(company_ids or ()) <= companies
    )
    if not allowed:
        raise ApplicationError("PERMISSION_DENIED", _("You cannot give or take more than you have yourself."))
    if before is None and not company_ids:
        raise invalid("/companies", _("Choose at least one company."))


def _changed_lines(before: User | None, after: User) -> list[Line]:
    lines = [
        _line(after, name, str(getattr(after, name)))
        for name in FIELDS
        if before is None or getattr(before, name) != getattr(after, name)
    ]
    if before is not None and before.password != after.password:
        lines.append(_line(after, "password"))
    return lines


def _line(person: User, field: str, content: str = "") -> Line:
    return Line(type="person", target=f"people/{person.username}/{field}", content=content)


def _set_roles(person: User, role_ids: Collection[int]) -> list[Line]:
    known = set(person.groups.values_list("pk", flat=True))
    if known == set(role_ids):
        return []
    person.groups.set(role_ids)
    names = person.groups.order_by("name").values_list("name", flat=True)
    return [_line(person, "roles", ", ".join(names))]


def _set_companies(person: User, company_ids: Collection[int], actor: Actor, now: datetime) -> None:
    """Each company that gains or loses the person gets a receipt in its own chain.

    `_global` comes last, as its chain does in every change of a person: one order of locks.
    """
    known = set(person.companies.values_list("pk", flat=True))
    changed = Company.objects.filter(pk__in=known ^ set(company_ids))
    for company in sorted(changed, key=lambda company: (company.is_global, company.pk)):
        member = company.pk in company_ids
        set_membership(company=company, person_id=person.pk, member=member, actor=actor, now=now)
