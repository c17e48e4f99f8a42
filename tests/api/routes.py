"""Every REST endpoint as the resolver knows it, with the kind of each part of its path."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

PREFIX = "api/v1/"
VERBS = ("GET", "POST", "PUT", "PATCH", "DELETE")


@dataclass(frozen=True)
class Route:
    """One path, e.g. `agents/<id:pk>`, its verbs, and the view class behind it."""

    path: str
    verbs: tuple[str, ...]
    view: type

    def __str__(self) -> str:
        return self.path

    def url(self, **parts: Any) -> str:
        """The address with each `<kind:name>` replaced by `parts[name]`."""
        text = self.path
        for name, value in parts.items():
            for kind in ("id", "code", "uuid", "slug", "str", "int"):
                text = text.replace(f"<{kind}:{name}>", str(value))
        assert "<" not in text, f"no value for a part of {self.path}"
        return f"/{PREFIX}{text}"


def all_routes() -> list[Route]:
    """All routes below /api/v1, sorted by path."""
    return sorted(_walk(get_resolver().url_patterns, ""), key=lambda route: route.path)


def _walk(patterns: list[URLPattern | URLResolver], before: str) -> Iterator[Route]:
    for pattern in patterns:
        path = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern.url_patterns, path)
        elif path.startswith(PREFIX):
            view = pattern.callback.view_class
            verbs = tuple(verb for verb in VERBS if hasattr(view, verb.lower()))
            yield Route(path.removeprefix(PREFIX), verbs, view)
