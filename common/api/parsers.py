"""Strict reading of request bodies: JSON and form-encoded, nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, BinaryIO

from django.conf import settings
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _
from rest_framework.parsers import BaseParser

from common.api.naming import snake_keys
from common.errors import ApplicationError, invalid
from common.strict_json import loads
from common.text import forbidden_character


def read_limited(stream: BinaryIO) -> bytes:
    """The whole body, or BODY_TOO_LARGE once it exceeds the limit."""
    limit = settings.API_MAX_BODY_BYTES
    body = stream.read(limit + 1)
    if len(body) > limit:
        raise body_too_large(None)
    return body


def body_too_large(actual: int | None) -> ApplicationError:
    """The 413 error, naming limit, actual size when known, and what to do."""
    limit = settings.API_MAX_BODY_BYTES
    shown = "?" if actual is None else str(actual)
    message = _("The body may have %(limit)d bytes; this has %(actual)s. Send less in one request.")
    return ApplicationError(
        "BODY_TOO_LARGE", message % {"limit": limit, "actual": shown}, extra={"limit": limit}
    )


class StrictJSONParser(BaseParser):
    """`application/json` by the strict reader; field names become snake_case."""

    media_type = "application/json"

    def parse(self, stream: BinaryIO, media_type: str | None = None, context: Mapping | None = None) -> Any:
        return snake_keys(loads(read_limited(stream)))


class StrictFormParser(BaseParser):
    """`application/x-www-form-urlencoded` as a plain dict, so that an absent boolean stays absent."""

    media_type = "application/x-www-form-urlencoded"

    def parse(self, stream: BinaryIO, media_type: str | None = None, context: Mapping | None = None) -> Any:
        body = read_limited(stream)
        try:
            body.decode("utf-8")
            fields = QueryDict(body, encoding="utf-8")
        except UnicodeDecodeError:
            raise invalid("", _("The form is not UTF-8.")) from None
        values = {name: fields.getlist(name) for name in fields}
        for name, items in values.items():
            if any(forbidden_character(text) for text in (name, *items)):
                raise invalid(f"/{name}", _("A character in this field cannot be stored (NUL or surrogate)."))
        return snake_keys({name: items[0] if len(items) == 1 else items for name, items in values.items()})
