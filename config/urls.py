"""The address book: admin, API, language switch, health, metrics."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView
from django_prometheus.exports import ExportToDjangoView

from common.api.errors import handle_400, handle_404, handle_500
from common.api.health import healthz, readyz
from prompt.views import preview

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:index"), name="home"),
    path("admin/agents/agent/<int:pk>/prompt/", admin.site.admin_view(preview), name="agent-prompt-preview"),
    path("admin/", admin.site.urls),
    path("i18n/", include("django.conf.urls.i18n")),
    path("api/v1/", include("config.api_router")),
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("metrics", ExportToDjangoView, name="metrics"),
]

handler400 = handle_400
handler404 = handle_404
handler500 = handle_500
