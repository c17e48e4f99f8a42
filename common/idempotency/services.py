"""Run a request's effect once per Idempotency-Key."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from common.archive import in_batches
from common.errors import ApplicationError, invalid
from common.idempotency.models import IdempotentRequest

MAX_KEY = 128
#: How long an answer is kept; a retry after that is a new request.
KEPT_FOR = timedelta(days=30)


@dataclass(frozen=True)
class Answer:
    """What the first request answered: HTTP status, JSON body, headers worth repeating."""

    status: int
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)


def run_once(
    *, company_id: int, kind: str, key: str, body: bytes, now: datetime, effect: Callable[[], Answer]
) -> Answer:
    """The answer of `effect`, or the stored one when this key was used before with the same body.

    Effect and stored answer share one transaction: after a crash or an error nothing is stored, and a retry
    runs again. Two at once: the second waits for the first and gets its answer.
    Errors: IDEMPOTENCY_KEY_REUSED for another body under the same key; VALIDATION_ERROR for a bad key.
    """
    if not 1 <= len(key) <= MAX_KEY or not key.isprintable():
        raise invalid(
            "/idempotency_key",
            _("The key needs 1 to %(limit)d printable characters; it has %(actual)d.")
            % {"limit": MAX_KEY, "actual": len(key)},
        )
    digest = hashlib.sha256(body).hexdigest()
    place = {"company_id": company_id, "kind": kind, "key": key}
    try:
        with transaction.atomic():
            stored = IdempotentRequest.objects.filter(**place).first()
            if stored is None:
                stored = IdempotentRequest.objects.create(**place, body_sha256=digest, created_at=now)
                answer = effect()
                stored.status, stored.headers = answer.status, dict(answer.headers)
                stored.answer = json.dumps(answer.body, cls=DjangoJSONEncoder, ensure_ascii=False)
                stored.save(update_fields=["status", "answer", "headers"])
                return answer
    except IntegrityError:
        stored = IdempotentRequest.objects.filter(**place).first()
        if stored is None:  # the conflict was the effect's own
            raise
    if stored.body_sha256 != digest:
        raise ApplicationError(
            "IDEMPOTENCY_KEY_REUSED", _("This key was used for a request with another body; use a new key.")
        )
    return Answer(stored.status, json.loads(stored.answer), stored.headers)


def forget_old(
    *,
    now: datetime,
    limit: int | None = None,
    dry_run: bool = False,
    progress: Callable[[int], Any] = lambda done: None,
) -> int:
    """Delete stored answers strictly older than KEPT_FOR, oldest first, in batches; returns how many."""
    old = IdempotentRequest.objects.filter(created_at__lt=now - KEPT_FOR).order_by("created_at", "pk")
    keys = list(old.values_list("pk", flat=True)[:limit])
    if dry_run:
        return len(keys)
    for batch in in_batches(keys):
        IdempotentRequest.objects.filter(pk__in=batch).delete()
        progress(len(batch))
    return len(keys)
