"""Values of front matter, written so that every YAML reader gives back what was put in."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from common.errors import ApplicationError
from common.safe_yaml import load_yaml

# Line ends and invisible signs that YAML folds, drops or refuses inside quotes.
_UNSAFE_RE = re.compile("[\x7f-\xa0\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")
_PLAIN_START_RE = re.compile(r"[\w./（“「《]")
_PLAIN_KEY_RE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def scalar(text: str) -> str:
    """A text as the value of a key: plain where that is read back unchanged, else in double quotes."""
    return text if _is_plain(text, f"k: {text}", {"k": text}) else quoted(text)


def flow_item(text: str) -> str:
    """A text as an item of `[a, b]`."""
    return text if _is_plain(text, f"k: [{text}]", {"k": [text]}) else quoted(text)


def flow_list(texts: Sequence[str]) -> str:
    """`[a, b]`"""
    return f"[{', '.join(map(flow_item, texts))}]"


def entry(key: str, value: Any) -> str:
    """The lines of one key of any JSON value. A list of texts stands below its key, one a line."""
    name = key if _PLAIN_KEY_RE.fullmatch(key) and _is_plain(key, f"{key}: 1", {key: 1}) else quoted(key)
    if isinstance(value, str):
        return f"{name}: {scalar(value)}"
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return "\n".join([f"{name}:", *(f"  - {scalar(item)}" for item in value)])
    return f"{name}: {_escape(json.dumps(value, ensure_ascii=False, default=str))}"


def quoted(text: str) -> str:
    """The text in double quotes, on one line."""
    return _escape(json.dumps(text, ensure_ascii=False))


def _is_plain(text: str, yaml: str, expected: Any) -> bool:
    if not _PLAIN_START_RE.match(text) or "\n" in text or text != text.strip() or _UNSAFE_RE.search(text):
        return False
    try:
        return bool(load_yaml(yaml) == expected)
    except ApplicationError:
        return False


def _escape(text: str) -> str:
    return _UNSAFE_RE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
