"""GET /schema, /docs: the OpenAPI document, and a page to read and try it."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.views import redirect_to_login
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from common.api.permissions import ScopePermission
from common.api.renderers import RawJSONRenderer
from common.api.views import as_problem


class _Document:
    """Any live key and all staff may read it; errors leave as everywhere else."""

    any_scope = True
    permission_classes = [ScopePermission]

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        response = super().finalize_response(request, response, *args, **kwargs)  # type: ignore[misc]
        if isinstance(response, Response) and response.status_code >= 400:
            response.accepted_renderer = RawJSONRenderer()
            response.accepted_media_type = RawJSONRenderer.media_type
        return as_problem(response)


class SchemaView(_Document, SpectacularAPIView):
    """The OpenAPI document, as YAML or JSON (`Accept`)."""

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        # Not the inherited one: it takes a language and a version from the query as they come.
        return self._get_schema_response(request)

    def _get_version_parameter(self, request: Request) -> None:
        return None


class DocsView(_Document, SpectacularSwaggerView):
    """The document as a page; a browser without a login is led to it."""

    url_name = "schema"

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        response = super().finalize_response(request, response, *args, **kwargs)
        by_browser = (
            "text/html" in request.headers.get("Accept", "") and "Authorization" not in request.headers
        )
        if response.status_code == 401 and by_browser:
            return redirect_to_login(request.get_full_path())
        return response

    def _get_schema_url(self, request: Request) -> str:
        return self.url or reverse(self.url_name)
