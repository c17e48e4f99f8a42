"""What a new line says that the old ones already say, or deny. Pure. docs/rules.md: conflicts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from common.text import name_key
from common.tokens import similarity, tokens

#: Words of polarity, longest first, so that 不要 is never read as 要.
_NEGATIVE = (
    "绝对不要",
    "绝对不能",
    "不要再",
    "不允许",
    "不可以",
    "不应该",
    "绝不",
    "禁止",
    "不要",
    "不得",
    "不能",
    "不可",
    "不应",
    "不准",
    "严禁",
    "切勿",
    "must not",
    "should not",
    "do not",
    "don't",
    "cannot",
    "never",
    "勿",
    "别",
)
_POSITIVE = (
    "一定要",
    "必须",
    "务必",
    "应该",
    "应当",
    "总是",
    "需要",
    "always",
    "should",
    "must",
    "要",
    "应",
    "须",
)
_LATIN = re.compile(r"[a-z' ]+")


@dataclass(frozen=True)
class Polarity:
    """A line without its words of polarity: +1 demands, -1 forbids, 0 says neither."""

    sign: int
    rest: str


@dataclass(frozen=True)
class Conflict:
    """`kind` duplicate or contradiction; `where` names the place, `text` is the line found there."""

    kind: str
    where: str
    text: str


def polarity(text: str) -> Polarity:
    """Sign and rest of a line; one negative word makes it negative, whatever else it contains."""
    rest, sign = name_key(text), 0
    for words, value in ((_NEGATIVE, -1), (_POSITIVE, 1)):
        for word in words:
            pattern = rf"\b{re.escape(word)}\b" if _LATIN.fullmatch(word) else re.escape(word)
            rest, found = re.subn(pattern, " ", rest)
            if found and not sign:
                sign = value
    return Polarity(sign, " ".join(rest.split()))


def plain(line: str) -> str:
    """A document's line without its list marker, for comparing."""
    return name_key(re.sub(r"^\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?", "", line))


def find_conflicts(content: str, existing: Mapping[str, Iterable[str]]) -> list[Conflict]:
    """Duplicates and contradictions of `content` among existing lines by place; each line at most once.

    Contradiction: the same tokens once the words of polarity are taken out, and exactly one of the two forbids.
    """
    new_key, new = plain(content), polarity(plain(content))
    new_tokens = set(tokens(new.rest.replace(" ", "")) if _is_cjk(new.rest) else tokens(new.rest))
    found = []
    for where, lines in existing.items():
        for line in lines:
            key = plain(line)
            if not key:
                continue
            if key == new_key:
                found.append(Conflict("duplicate", where, line.strip()))
                continue
            old = polarity(key)
            if (old.sign < 0) != (new.sign < 0) and _same(new_tokens, old.rest):
                found.append(Conflict("contradiction", where, line.strip()))
    return found


def nearest(
    content: str, existing: Mapping[str, Iterable[str]], limit: int = 3
) -> list[tuple[float, str, str]]:
    """The most similar existing lines as (similarity, where, line), best first; only those above 0.2."""
    wanted = tokens(content)
    scored = []
    for where, lines in existing.items():
        for line in lines:
            score = similarity(wanted, tokens(plain(line)))
            if score > 0.2:
                scored.append((round(score, 3), where, line.strip()))
    return sorted(scored, key=lambda entry: (-entry[0], entry[1], entry[2]))[:limit]


def _same(new_tokens: set[str], rest: str) -> bool:
    old = set(tokens(rest.replace(" ", "")) if _is_cjk(rest) else tokens(rest))
    return bool(new_tokens) and old == new_tokens


def _is_cjk(text: str) -> bool:
    return any("\u3400" <= character <= "\u9fff" for character in text)
