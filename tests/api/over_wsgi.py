"""Requests as a server hands them over: through the WSGI application, with streams instead of finished bodies."""

from __future__ import annotations

import io
from typing import Any

from django.core import signals
from django.db import close_old_connections

from common.api.wsgi import PlainRequests
from config.wsgi import django_application

#: Without the prompt's fast path: it closes connections that a test's transaction has made unlike all others.
application = PlainRequests(django_application)


class Chunks(io.RawIOBase):
    """A body of `x` that is made while it is read; `served` counts what was read of it."""

    def __init__(self, total: int, head: bytes = b"", piece: int = 64 * 1024) -> None:
        self.left, self.buffer, self.piece, self.served = total - len(head), head, piece, 0

    def read(self, size: int = -1) -> bytes:
        wanted = self.left + len(self.buffer) if size < 0 else size
        while len(self.buffer) < wanted and self.left:
            piece = min(self.piece, self.left)
            self.buffer += b"x" * piece
            self.left -= piece
        data, self.buffer = self.buffer[:wanted], self.buffer[wanted:]
        self.served += len(data)
        return data


def inside_a_test(environ: dict[str, Any], start_response: Any) -> list[bytes]:
    """The application, but keeping the connection in whose transaction the test runs."""
    for signal in (signals.request_started, signals.request_finished):
        signal.disconnect(close_old_connections)
    try:
        answer = application(environ, start_response)
        body = list(answer)
        if hasattr(answer, "close"):
            answer.close()
        return body
    finally:
        for signal in (signals.request_started, signals.request_finished):
            signal.connect(close_old_connections)


def over_wsgi(verb: str, path: str, stream: Any, **environ: Any) -> tuple[int, dict[str, str], bytes]:
    """(status, headers, body) of a request; `path` is relative to /api/v1, `environ` adds headers."""
    seen: list[tuple[str, list]] = []
    route, _mark, query = path.partition("?")
    request = {
        "REQUEST_METHOD": verb,
        "PATH_INFO": f"/api/v1/{route}",
        "QUERY_STRING": query,
        "SERVER_NAME": "testserver",
        "SERVER_PORT": "80",
        "HTTP_HOST": "testserver",
        "wsgi.url_scheme": "http",
        "wsgi.input": stream,
        "wsgi.input_terminated": True,
        "wsgi.errors": io.StringIO(),
        "CONTENT_TYPE": "application/json",
        **environ,
    }
    body = inside_a_test(request, lambda status, headers, *rest: seen.append((status, headers)))
    status, headers = seen[0]
    return int(status.split()[0]), dict(headers), b"".join(body)
