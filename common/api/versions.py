"""Optimistic locking over HTTP: a version is an ETag, `If-Match` names the version that was read."""

from __future__ import annotations

import re

from django.conf import settings
from django.utils.translation import gettext_lazy as _
from rest_framework.request import Request

from common.errors import ApplicationError

_TAG = re.compile(r'(?:W/)?"([^"]*)"')


def etag(version: int) -> str:
    """The ETag of a versioned row."""
    return f'"{version}"'


def expected_versions(request: Request, *, required: bool = True) -> frozenset[int] | None:
    """The versions that `If-Match` accepts; None when any is fine (`*`, or no header).

    Raises PRECONDITION_REQUIRED (428) without the header when REQUIRE_IF_MATCH is on and the write is
    `required` to name a version (one that makes a new row is not). A tag that is no version of ours matches
    nothing, so the write answers 412. Weak tags count: a proxy that compresses answers makes tags weak.
    """
    header = request.headers.get("If-Match")
    if header is None:
        if required and settings.REQUIRE_IF_MATCH:
            raise ApplicationError(
                "PRECONDITION_REQUIRED", _("Send If-Match with the ETag of the version you read.")
            )
        return None
    if header.strip() == "*":
        return None
    return frozenset(
        int(tag) for tag in _TAG.findall(header) if tag.isascii() and tag.isdigit() and len(tag) < 18
    )
