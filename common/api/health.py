"""/healthz: the process lives. /readyz: it can serve (database, migrations, cache, append-only triggers)."""

from __future__ import annotations

import structlog
from django.core.cache import cache
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from redis.exceptions import RedisError

from common.append_only import missing

log = structlog.get_logger(__name__)


def healthz(request: HttpRequest) -> JsonResponse:
    """200 as long as the process answers."""
    return JsonResponse({"status": "ok"})


def readyz(request: HttpRequest) -> JsonResponse:
    """200 when everything a request needs is there, else 503 with the parts that are not."""
    checks = {"database": _database(), "cache": _cache()}
    ready = all(state == "ok" for state in checks.values())
    return JsonResponse({"status": "ok" if ready else "unavailable", **checks}, status=200 if ready else 503)


def _database() -> str:
    try:
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            return "migrations are waiting"
        return "append-only triggers are missing" if missing(connection) else "ok"
    except DatabaseError:
        log.exception("readyz_database")
        return "unavailable"


def _cache() -> str:
    try:
        cache.set("readyz", 1, timeout=10)
        return "ok" if cache.get("readyz") == 1 else "unavailable"
    except (OSError, RedisError):
        log.exception("readyz_cache")
        return "unavailable"
