"""A rate limit per key that counts atomically. docs/rules.md: rate limit."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.utils.translation import gettext_lazy as _
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from common.companies.models import ApiKey
from common.errors import ApplicationError

_WINDOW_SECONDS = 60
_ATTEMPTS = 10


class KeyRateThrottle(BaseThrottle):
    """At most `API_RATE_LIMIT_PER_MINUTE` requests of one key in each minute of the clock; 0 is off.

    The cache's own increment decides, so simultaneous requests never pass together above the limit.
    """

    def allow_request(self, request: Request, view: Any) -> bool:
        limit = settings.API_RATE_LIMIT_PER_MINUTE
        if not limit or not isinstance(request.auth, ApiKey):
            return True
        minute = int(time.time() // _WINDOW_SECONDS)
        return _counted(f"rate:{request.auth.pk}:{minute}") <= limit

    def wait(self) -> float:
        return _WINDOW_SECONDS - time.time() % _WINDOW_SECONDS


def _counted(name: str) -> int:
    """How often this has been called for `name`, this call included."""
    for _attempt in range(_ATTEMPTS):
        cache.add(name, 0, timeout=2 * _WINDOW_SECONDS)
        # ValueError: the cache threw the entry out in between.
        with suppress(ValueError):
            return cache.incr(name)
    raise ApplicationError("SERVICE_UNAVAILABLE", _("The rate limit cannot be counted; try again shortly."))
