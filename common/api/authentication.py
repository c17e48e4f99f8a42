"""Who calls: a runtime with a Bearer key, or staff with a session."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.request import Request

from common.companies.models import ApiKey
from common.companies.selectors import key_by_text
from common.companies.services import note_key_use
from common.errors import ApplicationError


class ApiKeyAuthentication(BaseAuthentication):
    """`Authorization: Bearer <key>`; any fault of the key is one and the same 401."""

    def authenticate(self, request: Request) -> tuple[AnonymousUser, ApiKey] | None:
        header = request.META.get("HTTP_AUTHORIZATION", "")
        if not header:
            return None
        scheme, _space, text = header.partition(" ")
        now = timezone.now()
        key = key_by_text(text.strip(), now) if scheme.lower() == "bearer" else None
        if key is None:
            raise ApplicationError(
                "API_KEY_INVALID", _("The key is unknown, expired, revoked, or its company is disabled.")
            )
        note_key_use(key=key, now=now)
        return AnonymousUser(), key

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="fieldbook"'


class StaffSessionAuthentication(SessionAuthentication):
    """The admin's session, for staff only, with CSRF."""

    def authenticate(self, request: Request):
        found = super().authenticate(request)
        if found is None or not found[0].is_staff:
            return None
        return found

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="fieldbook"'


class ApiKeyScheme(OpenApiAuthenticationExtension):
    """How the key appears in the OpenAPI document."""

    target_class = ApiKeyAuthentication
    name = "apiKey"

    def get_security_definition(self, auto_schema):
        return {"type": "http", "scheme": "bearer", "description": "A key made by `issue_api_key`."}


class StaffSessionScheme(OpenApiAuthenticationExtension):
    """How the staff session appears in the OpenAPI document."""

    target_class = StaffSessionAuthentication
    name = "staffSession"

    def get_security_definition(self, auto_schema):
        return {"type": "apiKey", "in": "cookie", "name": "sessionid"}
