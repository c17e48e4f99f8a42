"""Filters of the agent lists, and what those lists leave unread."""

from __future__ import annotations

import json
from typing import Any

from django.contrib.admin import SimpleListFilter
from django.db import connection
from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import TextFilter

from common.text import forbidden_character


class TagFilter(TextFilter):
    """Agents with exactly this tag. A text box, because listing all tags would read every agent."""

    title = _("tag")
    parameter_name = "tag"

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        tag = (self.value() or "").strip()
        if not tag:
            return queryset
        if forbidden_character(tag):
            return queryset.none()
        # SQLite keeps JSON as it was written (with \\u escapes), PostgreSQL decodes it; neither knows `contains`
        # on both, and the quotes make it the whole tag.
        written = json.dumps(tag, ensure_ascii=connection.vendor != "postgresql")
        return queryset.annotate(tags_text=Cast("tags", TextField())).filter(tags_text__contains=written)


class AgentFilter(SimpleListFilter):
    """By agent, reached through a link (`?agent=<id>`); it offers no list of names."""

    title = _("agent")
    parameter_name = "agent"

    def has_output(self) -> bool:
        return bool(self.value())

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        value = request.GET.get(self.parameter_name, "")
        agents = model_admin.model._meta.get_field("agent").remote_field.model.objects
        found = agents.seen_by(request.user).filter(pk=value) if value.isascii() and value.isdigit() else ()
        return [(str(agent.pk), agent.name) for agent in found]

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        value = self.value()
        if not value:
            return queryset
        return queryset.filter(agent=value) if value.isascii() and value.isdigit() else queryset.none()


def without_agent_texts(queryset: QuerySet) -> QuerySet:
    """Rows that name their agent need none of its long texts, which a list would load once a row."""
    return queryset.defer("agent__system_prompt", "agent__description")
