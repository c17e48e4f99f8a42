"""In front of Django: what it would fail on before any middleware could help."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

_CHARSET = re.compile(r";\s*charset\s*=[^;]*", re.IGNORECASE)


class PlainRequests:
    """Drops a charset that a client announces (everything here is UTF-8), and a length that is no number.

    Django decodes the query string with the charset, and breaks on codecs that are none of text (`bz2_codec`).
    """

    def __init__(self, application: Callable[..., Iterable[bytes]]) -> None:
        self.application = application

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        announced = environ.get("CONTENT_TYPE", "")
        if "charset" in announced.lower():
            environ["CONTENT_TYPE"] = _CHARSET.sub("", announced)
        length = environ.get("CONTENT_LENGTH", "")
        if length and not (length.isascii() and length.isdigit()):
            environ["CONTENT_LENGTH"] = ""
        return self.application(environ, start_response)
