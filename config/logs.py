"""Structured logs: JSON lines in production, readable lines on a terminal; request ids in both."""

from typing import Any

import structlog

SHARED: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]
CONSOLE = structlog.dev.ConsoleRenderer(colors=False)
JSON = structlog.processors.JSONRenderer(ensure_ascii=False)

#: For a terminal that somebody reads: a 404 is told by the line of its request, and the filesystem broker has no host.
QUIET = {"django.request": {"level": "ERROR"}, "kombu.connection": {"level": "ERROR"}}


def formatter(renderer) -> dict:
    """A `logging` formatter entry that renders every record, ours and the libraries', with `renderer`."""
    return {
        "()": "structlog.stdlib.ProcessorFormatter",
        "processors": [
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            renderer,
        ],
        "foreign_pre_chain": SHARED,
    }


def configure() -> None:
    """Route structlog through `logging`, so that one handler writes everything."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *SHARED,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
