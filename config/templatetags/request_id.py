"""The request id of the logs, for pages that are rendered without a request (400, 500)."""

import structlog
from django import template

register = template.Library()


@register.simple_tag
def request_id() -> str:
    """The id of the request being answered; empty when it was refused before it got one."""
    return str(structlog.contextvars.get_contextvars().get("request_id", ""))
