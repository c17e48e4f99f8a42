"""The admin site: Unfold's, with a company switcher, a start page that says what there is, and a plain search."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.exceptions import BadRequest
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST
from unfold.sites import UnfoldAdminSite

from common.admin import CHOSEN_COMPANY
from common.companies.models import Company
from config.start_page import start_page

#: Results of one search; the sidebar has fewer entries than that.
MAX_RESULTS = 50


def _without_nul(view: Callable) -> Callable:
    """400 for a NUL character in the query: filters hand it to the database, and PostgreSQL refuses it."""

    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if any("\0" in text for name, values in request.GET.lists() for text in (name, *values)):
            raise BadRequest("a NUL character in the query")
        return view(request, *args, **kwargs)

    return checked


class FieldbookAdminSite(UnfoldAdminSite):
    """One site for all rooms; pages are registered by the rooms themselves."""

    enable_nav_sidebar = True
    index_title = _("Start")

    def extra_urls(self) -> list[URLPattern]:
        """Unfold's hook for addresses of the site itself."""
        return [path("company/", self.admin_view(require_POST(self.choose_company)), name="choose_company")]

    def admin_view(self, view: Callable, cacheable: bool = False) -> Callable:
        return super().admin_view(_without_nul(view), cacheable)

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().index(request, {**start_page(request), **(extra_context or {})})

    def choose_company(self, request: HttpRequest) -> HttpResponse:
        """Remember whose rows the lists show (empty: all). 404 for a company that the person may not see."""
        slug = request.POST.get("company", "")
        known = Company.objects.seen_by(request.user)
        if slug and ("\0" in slug or not known.filter(slug=slug).exists()):
            raise Http404
        request.session[CHOSEN_COMPANY] = slug
        back = request.POST.get("next", "")
        if not url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=request.is_secure()):
            back = reverse("admin:index")
        return HttpResponseRedirect(back)

    def search(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Pages by name. Unfold's own keeps results for minutes, in the language and with the rights of then."""
        term = request.GET.get("s", "").strip().casefold()
        if not term:
            return HttpResponse()
        results = self._search_apps(self.get_app_list(request), term)[:MAX_RESULTS]
        page = Paginator(results, MAX_RESULTS).page(1)
        context = {"results": page, "page_counter": 0, "execution_time": 0, "command_show_history": False}
        return TemplateResponse(
            request, "unfold/helpers/search_results.html", context, headers={"HX-Trigger": "search"}
        )
