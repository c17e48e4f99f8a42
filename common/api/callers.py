"""The caller of an API request: who, for which company, with which rights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _
from rest_framework.request import Request

from common.actors import Actor, Channel
from common.companies.models import ApiKey, Company
from common.companies.selectors import company_for_staff, may_write
from common.errors import ApplicationError


@dataclass(frozen=True)
class Caller:
    """`company` is the one whose rows are seen and written; `agent_id` binds a key to one agent."""

    company: Company
    actor: Actor
    key: ApiKey | None = None
    user: Any = None

    @property
    def agent_id(self) -> int | None:
        return self.key.agent_id if self.key else None

    def check_unbound(self) -> None:
        """SCOPE_MISSING for a key that is bound to one agent and asks for more than this agent."""
        if self.agent_id is not None:
            raise ApplicationError("SCOPE_MISSING", _("This key works for one agent only."))


def caller_of(request: Request) -> Caller:
    """The caller; AUTH_REQUIRED when nobody is authenticated, NOT_FOUND for a company staff may not see."""
    if isinstance(request.auth, ApiKey):
        key = request.auth
        actor = Actor(name=f"key:{key.name}", channel=Channel.API, key_id=key.pk)
        return Caller(company=key.company, actor=actor, key=key)
    user = request.user
    if not (user and user.is_authenticated and user.is_staff):
        raise ApplicationError("AUTH_REQUIRED", _("Send “Authorization: Bearer <key>”."))
    company = company_for_staff(user, request.query_params.get("company"))
    actor = Actor(name=user.get_username(), channel=Channel.API, user_id=user.pk)
    return Caller(company=company, actor=actor, user=user)


def check_rights(caller: Caller, scope: str | None, permission: str | None, writes: bool) -> None:
    """Raise SCOPE_MISSING, COMPANY_FORBIDDEN or PERMISSION_DENIED when the caller may not do this.

    `scope` None means that no key may; `permission` None means that staff need no model permission.
    """
    if caller.key is not None:
        if scope is None:
            raise ApplicationError("SCOPE_MISSING", _("No key may do this; sign in as staff."))
        if scope not in caller.key.scopes:
            raise ApplicationError("SCOPE_MISSING", _("This needs the scope “%(scope)s”.") % {"scope": scope})
        return
    if permission and not caller.user.has_perm(permission):
        raise ApplicationError("PERMISSION_DENIED", _("Your role does not allow this."))
    if writes and not may_write(caller.user, caller.company):
        raise ApplicationError("COMPANY_FORBIDDEN", _("You may read this company's rows, not change them."))
