"""The default permission: authenticated, with the scope or the staff permission that the view names."""

from __future__ import annotations

from typing import Any

from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from common.api.callers import caller_of, check_rights


class ScopePermission(BasePermission):
    """Views name `scopes` and `staff_permissions` per method; a GET without an entry needs `read`.

    A view that only reads with POST (recall, prompt) says `reads = {"POST"}`.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        caller = caller_of(request)
        if not hasattr(view, str(request.method).lower()):
            return True  # 405 follows; which scope would be needed for it is no question
        method = "GET" if request.method in SAFE_METHODS else request.method
        default = "read" if method == "GET" else None
        scope = getattr(view, "scopes", {}).get(method, default)
        permission = getattr(view, "staff_permissions", {}).get(method)
        writes = method != "GET" and method not in getattr(view, "reads", ())
        if not (method == "GET" and getattr(view, "any_scope", False)):
            check_rights(caller, scope, permission, writes)
        view.caller = caller
        return True
