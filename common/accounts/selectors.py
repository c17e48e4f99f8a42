"""Who may manage whom: nobody hands out, or takes over, more than they have themselves."""

from __future__ import annotations

from django.contrib.auth.models import Group, Permission
from django.db.models import Q, QuerySet

from common.accounts.models import User
from common.companies.models import Company


def permissions_of(person: User) -> QuerySet[Permission]:
    """Permissions of a person by role or directly, whether or not the account is active."""
    return Permission.objects.filter(Q(group__user=person) | Q(user=person)).distinct()


def may_manage(manager: User, person: User) -> bool:
    """Whether `manager` may change the account of `person`, the password included.

    A superuser may change everybody. Others only people who are no superusers, hold no permission that they
    lack, and belong to no company that they are not a member of: a new password would open all of that.
    """
    if manager.is_superuser:
        return True
    if person.is_superuser:
        return False
    more = permissions_of(person).exclude(pk__in=permissions_of(manager).values("pk"))
    elsewhere = person.companies.exclude(pk__in=manager.companies.values("pk"))
    return not more.exists() and not elsewhere.exists()


def grantable_roles(manager: User) -> QuerySet[Group]:
    """Roles with no permission that `manager` lacks."""
    roles = Group.objects.order_by("name")
    if manager.is_superuser:
        return roles
    lacking = Permission.objects.exclude(pk__in=permissions_of(manager).values("pk"))
    return roles.exclude(pk__in=Group.objects.filter(permissions__in=lacking).values("pk"))


def grantable_companies(manager: User) -> QuerySet[Company]:
    """Companies that `manager` may make people members of."""
    return Company.objects.written_by(manager).order_by("slug")
