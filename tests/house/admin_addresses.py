"""Every address of the admin, from the resolver, and how to fill in its parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.apps import apps
from django.contrib.auth import get_user_model
from django.urls import URLPattern, URLResolver, get_resolver

#: What a few pages need to be asked.
QUERIES = {
    "admin:autocomplete": {
        "app_label": "agents",
        "model_name": "document",
        "field_name": "agent",
        "term": "",
    },
    "admin:search": {"s": "a"},
    "admin:agents_agent_compare": {"from": 1, "to": 2},
    "admin:agents_document_compare": {"from": 1, "to": 2},
}


@dataclass(frozen=True)
class Address:
    """A page: its name (the pattern where it has none), the pattern, and the model it is about."""

    name: str
    pattern: str

    @property
    def model(self) -> Any:
        """The model of a `<app>_<model>_<page>` name; None for pages of the site."""
        parts = self.name.removeprefix("admin:").split("_")
        if self.name == "admin:auth_user_password_change":
            return get_user_model()
        if len(parts) < 3:
            return None
        try:
            return apps.get_model(parts[0], parts[1])
        except LookupError:
            return None

    def url(self, house: Any) -> str:
        """The address for the rows of `house`."""
        url = "/" + self.pattern
        for part in ("<path:object_id>", "<id>", "<int:pk>"):
            if part in url:
                row = house.row(self.model) if self.model else house.agent
                url = url.replace(part, str(row.pk))
        for part, value in {
            "<int:agent_id>": house.agent.pk,
            "<int:number>": 1,
            "<str:kind>": "csv",
            "<slug:name>": "injection_top_k",
            "<int:change_id>": house.change.pk,
        }.items():
            url = url.replace(part, str(value))
        if "<" in url:
            raise LookupError(f"teach {__name__} what to put into {url}")
        query = QUERIES.get(self.name)
        return f"{url}?{urlencode(query)}" if query else url


def _walk(patterns: list, prefix: str = "", space: str = "") -> Iterator[Address]:
    for item in patterns:
        pattern = prefix + str(item.pattern)
        if isinstance(item, URLResolver):
            inner = f"{item.namespace}:" if item.namespace else space
            yield from _walk(item.url_patterns, pattern, inner)
        elif isinstance(item, URLPattern):
            yield Address(f"{space}{item.name}" if item.name else pattern, pattern)


#: Addresses of Django that lead to other pages or nowhere: tested apart.
REDIRECTS = {"admin:view_on_site", "admin:app_list", "admin/(?P<url>.*)$"}


def admin_addresses() -> list[Address]:
    """All pages below /admin/ that have a name, in the order of their names."""
    found = {
        address for address in _walk(get_resolver().url_patterns) if address.pattern.startswith("admin/")
    }
    return sorted(
        (
            address
            for address in found
            if address.name not in REDIRECTS and not address.name.endswith("/<path:object_id>/")
        ),
        key=lambda address: address.name,
    )
