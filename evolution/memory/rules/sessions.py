"""What the messages of a session say about how it went."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from common.text import is_blank
from evolution.memory.rules.correcting import correction
from evolution.memory.rules.folding import fold
from evolution.memory.rules.lexicon import Lexicon
from evolution.memory.rules.signs import signs

USER = "user"
ASSISTANT = "assistant"


@dataclass(frozen=True)
class Message:
    """One message; `role` is user or assistant, every other role is passed over."""

    role: str
    text: str


class Satisfaction(StrEnum):
    """How content the user was."""

    POSITIVE = "positive"
    NEGATIVE = "negative"
    NEUTRAL = "neutral"
    UNKNOWN = "unknown"


# Questions that close an answer out of courtesy are none that the agent needs answered.
_COURTESY_RE = re.compile(
    r"还有(?:什么|其他|别的|哪些)|还需要|其他(?:问题|需要)|帮(?:您|你|到)|\banything else\b|\bsomething else\b"
    r"|\bcan i help\b|\bmay i help\b|\bother questions\b|\bdoes (?:this|that) help\b"
)
_ENDS_ASKING_RE = re.compile(r"(?:\?|[吗呢] ?[。.!~]?)[\s\ufffc)*_]*\Z")
_SENTENCE_RE = re.compile(r"[^.!?。\n]*[?]?[\s\ufffc)*_]*\Z")


def satisfaction(messages: Iterable[Message], lexicon: Lexicon) -> Satisfaction:
    """How content the user was, from the user's messages. docs/rules.md: satisfaction.

    Negative when the last classified one is, or more are negative than positive; else positive when any is;
    neutral when none is classified; unknown without a message of the user.
    """
    read = [signs(text, lexicon) for text in _texts(messages, USER)]
    if not read:
        return Satisfaction.UNKNOWN
    classified = [sign.negative for sign in read if sign.negative or sign.positive]
    if not classified:
        return Satisfaction.NEUTRAL
    negative = sum(classified)
    if classified[-1] or negative > len(classified) - negative:
        return Satisfaction.NEGATIVE
    return Satisfaction.POSITIVE


def clarification_count(messages: Sequence[Message]) -> int:
    """How many messages of the agent end in a question that the user's next message answers."""
    spoken = [message for message in messages if message.role in (USER, ASSISTANT)]
    return sum(
        before.role == ASSISTANT and after.role == USER and not is_blank(after.text) and _asks(before.text)
        for before, after in pairwise(spoken)
    )


def correction_count(messages: Iterable[Message], lexicon: Lexicon) -> int:
    """How many messages of the user correct something, or say that it is wrong without saying why."""
    return sum(
        signs(text, lexicon).negative or correction(text, lexicon) is not None
        for text in _texts(messages, USER)
    )


def _texts(messages: Iterable[Message], role: str) -> list[str]:
    return [message.text for message in messages if message.role == role and not is_blank(message.text)]


def _asks(text: str) -> bool:
    # Read from its end: a long answer asks in its last sentence.
    said = fold(text.rstrip()[-2000:]).said
    last = _SENTENCE_RE.search(said)
    sentence = last[0] if last else ""
    return bool(_ENDS_ASKING_RE.search(said)) and not _COURTESY_RE.search(sentence)
