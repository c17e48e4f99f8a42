"""Secrets and personal data taken out of text before it is stored. Pure, in linear time, never raises.

Each find becomes `[REDACTED:<kind>]`, the same for the same kind, so that equal texts stay equal. Kinds:
private_key, url_credentials, webhook_url, api_token, jwt, bearer, authorization, cookie, password, secret,
email, cn_id, bank_card, cn_mobile, home_path. Rules do not find everything: reviewers remain needed.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from common.redaction_checks import is_secret_value, is_value
from common.redaction_rules import PASSWORD_KEY, RULES, SECRET_KEY, Rule

#: Kinds that say who somebody is; where a system names people by them, they are ids and no secrets.
PERSONAL = frozenset({"email", "cn_id", "bank_card", "cn_mobile"})

# A replacement can bare another secret beside it, so the table is applied until nothing changes any more.
_MAX_ROUNDS = 8
_PLACEHOLDER_RE = re.compile(r"\[REDACTED:[a-z_]+\]")
_LONGEST_NAME = 100
_CLOSING = ".,;:)]}"

_KEY_MARK_RE = re.compile(r"-{4,5} ?(BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
# The body of a block that was cut off: lines of Base64 and a padded last one, also with `\n` spelled out.
_KEY_BODY_RE = re.compile(
    r"""(?:(?:\\[nr]|\s)*+[A-Za-z0-9+/=]{16,}+)*+(?:(?:\\[nr]|\s)*+[A-Za-z0-9+/]++={1,2}(?![^\s"'\\]))?"""
)

_PASSWORD_NAME_RE = re.compile(rf"(?i)(?:.*(?:{PASSWORD_KEY})|pass)")
_SECRET_NAME_RE = re.compile(rf"(?i).*(?:{SECRET_KEY})")


@dataclass(frozen=True)
class Redacted:
    """Text without its secrets, and how many of each kind were taken out."""

    text: str
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class RedactedValue:
    """A JSON value without the secrets in its texts, and how many of each kind were taken out."""

    value: Any
    counts: dict[str, int] = field(default_factory=dict)


def redact(text: str) -> Redacted:
    """Replace secrets and personal data by `[REDACTED:<kind>]`. Idempotent. docs/rules.md: redaction."""
    counts: Counter[str] = Counter()
    for _round in range(_MAX_ROUNDS):
        before = text
        text = _without_private_keys(text, counts)
        lowered = text.lower()
        for rule in RULES:
            if not rule.needles or any(needle in lowered for needle in rule.needles):
                text = _without(rule, text, counts)
        if text == before:
            break
    return Redacted(text, dict(counts))


def redact_value(value: Any) -> RedactedValue:
    """The same for every text inside lists and dicts of a JSON value. Keys stay, the input is not changed.

    A text that stands under a key such as `password` or `api_key` is judged as if it were assigned to it.
    """
    counts: Counter[str] = Counter()
    root = [value]
    todo: list[tuple[Any, Any, str]] = [(root, 0, "")]
    # A list of what is left instead of recursion: no depth of nesting can overflow it.
    while todo:
        parent, at, name = todo.pop()
        item = parent[at]
        if isinstance(item, str):
            parent[at] = _redacted_member(name, item, counts)
        elif isinstance(item, dict):
            parent[at] = copy = dict(item)
            todo += [(copy, key, str(key)) for key in copy]
        elif isinstance(item, list | tuple):
            parent[at] = elements = list(item)
            todo += [(elements, index, name) for index in range(len(elements))]
    return RedactedValue(root[0], dict(counts))


def _redacted_member(name: str, text: str, counts: Counter[str]) -> str:
    end = name[-_LONGEST_NAME:]
    if not _PLACEHOLDER_RE.search(text):
        kind = "password" if _PASSWORD_NAME_RE.fullmatch(end) and is_value(text) else ""
        kind = kind or ("secret" if _SECRET_NAME_RE.fullmatch(end) and is_secret_value(text) else "")
        if kind and redact(text).text == text:
            counts[kind] += 1
            return _placeholder(kind)
    redacted = redact(text)
    counts.update(redacted.counts)
    return redacted.text


def _without(rule: Rule, text: str, counts: Counter[str]) -> str:
    def replacement(match: re.Match[str]) -> str:
        secret = match["secret"]
        kept = secret.rstrip(_CLOSING) if rule.trims else secret
        is_done = _PLACEHOLDER_RE.match(text, match.start("secret")) is not None
        if not kept or is_done or (rule.accept and not rule.accept(match)):
            return match[0]
        counts[rule.kind] += 1
        start = match.start("secret") - match.start()
        return f"{match[0][:start]}{_placeholder(rule.kind)}{match[0][start + len(kept) :]}"

    return rule.pattern.sub(replacement, text)


def _without_private_keys(text: str, counts: Counter[str]) -> str:
    marks = list(_KEY_MARK_RE.finditer(text))
    parts: list[str] = []
    done = 0
    for mark, following in zip_longest(marks, marks[1:]):
        if mark[1] == "END" or mark.start() < done:
            continue
        if following and following[1] == "END":
            end = following.end()
        else:
            body = _KEY_BODY_RE.match(text, mark.end())
            end = body.end() if body else mark.end()
            if end == mark.end():  # only spoken of
                continue
        parts += [text[done : mark.start()], _placeholder("private_key")]
        counts["private_key"] += 1
        done = end
    return "".join([*parts, text[done:]])


def _placeholder(kind: str) -> str:
    return f"[REDACTED:{kind}]"
