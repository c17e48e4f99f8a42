"""Strict reading of request bodies: JSON and form-encoded, nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any
from urllib.parse import parse_qsl

from django.conf import settings
from django.utils.translation import gettext_lazy as _
from rest_framework.parsers import BaseParser

from common.api.naming import snake_keys
from common.errors import ApplicationError, invalid
from common.strict_json import loads
from common.text import forbidden_character


def read_limited(stream: IO[Any]) -> bytes:
    """The whole body, or BODY_TOO_LARGE once it exceeds the limit."""
    limit = settings.API_MAX_BODY_BYTES
    body = stream.read(limit + 1)
    if len(body) > limit:
        raise body_too_large(None)
    return body


def body_too_large(actual: int | None) -> ApplicationError:
    """The 413 error, naming limit, actual size when it was announced, and what to do."""
    limit = settings.API_MAX_BODY_BYTES
    if actual is None:
        detail = _("The body has more than the %(limit)d bytes that are allowed. Send less in one request.")
        return ApplicationError("BODY_TOO_LARGE", detail % {"limit": limit}, extra={"limit": limit})
    detail = _("The body may have %(limit)d bytes; this has %(actual)d: send %(excess)d less in one request.")
    values = {"limit": limit, "actual": actual}
    return ApplicationError("BODY_TOO_LARGE", detail % (values | {"excess": actual - limit}), extra=values)


class StrictJSONParser(BaseParser):
    """`application/json` by the strict reader; field names become snake_case."""

    media_type = "application/json"

    def parse(self, stream: IO[Any], media_type: str | None = None, context: Mapping | None = None) -> Any:
        return snake_keys(loads(read_limited(stream)))


class StrictFormParser(BaseParser):
    """`application/x-www-form-urlencoded` as a plain dict, so that an absent boolean stays absent."""

    media_type = "application/x-www-form-urlencoded"

    def parse(self, stream: IO[Any], media_type: str | None = None, context: Mapping | None = None) -> Any:
        values: dict[str, Any] = {}
        for name, text in _pairs(read_limited(stream)):
            if forbidden_character(name) or forbidden_character(text):
                raise invalid("", _("The form contains a NUL character; remove it."))
            values.setdefault(name, []).append(text)
        return snake_keys({name: items[0] if len(items) == 1 else items for name, items in values.items()})


def _pairs(body: bytes) -> list[tuple[str, str]]:
    """The fields of a form. Strictly UTF-8: Django's own reading would store U+FFFD for what it cannot read."""
    try:
        text = body.decode("utf-8")
        if text.count("&") >= settings.DATA_UPLOAD_MAX_NUMBER_FIELDS:
            limit = settings.DATA_UPLOAD_MAX_NUMBER_FIELDS
            raise invalid("", _("A form may have %(limit)d fields; send fewer.") % {"limit": limit})
        return parse_qsl(text, keep_blank_values=True, encoding="utf-8", errors="strict")
    except UnicodeDecodeError:
        raise invalid("", _("The form is not UTF-8.")) from None
