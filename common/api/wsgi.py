"""In front of Django: what it would fail on before any middleware could help."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

_CHARSET = re.compile(r";\s*charset\s*=[^;]*", re.IGNORECASE)


class Utf8Only:
    """Drops the charset that a client announces: everything here is UTF-8.

    Django decodes the query string with it, and breaks on codecs that are none of text (`bz2_codec`).
    """

    def __init__(self, application: Callable[..., Iterable[bytes]]) -> None:
        self.application = application

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        announced = environ.get("CONTENT_TYPE", "")
        if "charset" in announced.lower():
            environ["CONTENT_TYPE"] = _CHARSET.sub("", announced)
        return self.application(environ, start_response)
