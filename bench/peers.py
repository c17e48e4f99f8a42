"""The bare WSGI application: as little as a server can be asked to do. gunicorn runs it as `bench.peers:bare`."""

import os
from pathlib import Path

BODY = Path(os.environ["BENCH_TEXT"]).read_bytes()
HEADERS = [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(BODY)))]


def bare(environ, start_response):
    """A constant."""
    start_response("200 OK", list(HEADERS))
    return [BODY]
