"""What a user corrects: what was wrong, what would have been right, and the rule behind it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from evolution.memory.rules import trimming
from evolution.memory.rules.lexicon import Found, Kind, Lexicon
from evolution.memory.rules.signs import Reading, read
from evolution.memory.rules.skills import SkillCue, skill_in

Span = tuple[int, int]

#: The type of the learning point that a correction becomes.
ERROR_CORRECTION = "error_correction"


@dataclass(frozen=True)
class Correction:
    """`rule` is the statement as typed; `wrong` and `correct` only where it names both.

    `domain` and `skill` belong to the skill whose words the message holds, else None.
    """

    rule: str
    wrong: str | None = None
    correct: str | None = None
    domain: str | None = None
    skill: str | None = None
    type: str = ERROR_CORRECTION


# A comma between digits belongs to the number, a dot inside a word to the word.
_PART = r"(?:[^,;.。!?\n]|(?<=\d),(?=\d)|\.(?=\w)){1,200}"
_NOT_BUT = (
    re.compile(
        rf"不是(?P<wrong>(?![我你不没只说因为了]){_PART}?)"
        rf"(?:[,;、] ?(?:而是|应该?是|应该?为|是)|而是) ?(?P<correct>{_PART})"
    ),
    re.compile(
        rf"\bnot (?!only|just|now|much|sure|merely|simply|necessarily|bad|yet|really|that|because|to mention)"
        rf"(?P<wrong>{_PART}?),? but (?:rather )?"
        rf"(?!(?:i|we|you|it|they|he|she|there|could|should|would|can|still|not|also)\b)(?P<correct>{_PART})"
    ),
)
_SHOULD_BECOME_RE = re.compile(rf"应[该当]?改[为成] ?(?P<correct>{_PART})")
_CLAUSE_END_RE = re.compile(r"[,;。!?\n]|[.:](?!\w)")
_SUBJECT_RE = re.compile(r"(?:(?:no\b|it's|it is|this is|that's|应该|把|将|不(?=,))[, ]*)*")

_SEPARATED_RE = re.compile(
    r"(?:[了啊呀哈呢嘛噢哦喔哟吧的诶劲]{0,2}[ \n]*[,;:.!。、…~—-]|[ \n]*\n)[ ,;:.!。、…~\n—-]*"
)
_RUN_ON_RE = re.compile(r"[了啊呀哈呢嘛噢哦喔哟吧的诶]{0,2}(?: |(?=应[该当]|[要得]))")
_NO_STATEMENT_RE = re.compile(
    r"(?:请|麻烦|please|you|你|请你|just|let's)? ?"
    r"(?:再(?:试试|想想|看看|查查|(?:试|来|做|写|检查|[^,;:.!?。])(?:一?[次遍下])?)|重[来做写试]|重新.{0,6}|算了|等等|等一下"
    r"|(?:try|do it|start|check|think) (?:again|over)|again|redo(?: it| this| that)?|wait|never mind|sorry"
    r"|thank you|why|what|how|it|this|that|all of it)?(?:吧|了|一下|一遍|一次|please)?"
)
_QUESTION_END_RE = re.compile(r"(?:\?|[吗么])\s*$")


def correction(text: str, lexicon: Lexicon, skills: Sequence[SkillCue] = ()) -> Correction | None:
    """The correction in a message, or None. docs/rules.md: corrections.

    It is a statement behind a negative phrase; without one the message must open with `不是X，是Y`,
    `X应改为Y` or `not X but Y`.
    """
    reading = read(text, lexicon)
    plain = reading.folded.text
    closing = reading.of(Kind.POSITIVE, Kind.NEGATIVE)
    for found in reading.counted[Kind.NEGATIVE]:
        start = _statement_start(plain, found, closing)
        end = trimming.cut_tail(plain, start, len(plain), closing)
        if _is_statement(plain[start:end]):
            return _made(reading, start, end, _parts(plain, start, end), skills)
    start = trimming.skip_head(plain, 0, len(plain))
    end = trimming.cut_tail(plain, start, len(plain), closing)
    parts = _parts(plain, start, end, opening=True)
    if parts and _is_statement(plain[start:end]):
        return _made(reading, start, end, parts, skills)
    return None


def _statement_start(plain: str, found: Found, closing: Sequence[Found]) -> int:
    is_latin = found.phrase[-1].isascii()
    separated = _SEPARATED_RE.match(plain, found.end) or (
        None if is_latin else _RUN_ON_RE.match(plain, found.end)
    )
    if separated is None:
        return len(plain)
    start = trimming.skip_head(plain, separated.end(), len(plain))
    following = {other.start: other.end for other in closing}
    while start in following:
        start = trimming.skip_head(plain, following[start], len(plain))
    return start


def _is_statement(text: str) -> bool:
    text = text.strip()
    return bool(text) and not _NO_STATEMENT_RE.fullmatch(text[:200]) and not _QUESTION_END_RE.search(text)


def _parts(plain: str, start: int, end: int, opening: bool = False) -> tuple[Span, Span] | None:
    """Where wrong and correct stand between `start` and `end`; with `opening` only at its beginning."""
    subject = _SUBJECT_RE.match(plain, start, end)
    first = subject.end() if subject else start
    for pattern in _NOT_BUT:
        found = pattern.match(plain, first, end) if opening else pattern.search(plain, start, end)
        if found:
            return found.span("wrong"), found.span("correct")
    found = _SHOULD_BECOME_RE.search(plain, start, end)
    if found is None:
        return None
    breaks = [mark.end() for mark in _CLAUSE_END_RE.finditer(plain, start, found.start())]
    if opening and breaks:
        return None
    wrong = (breaks[-1] if breaks else start, found.start())
    return (wrong, found.span("correct")) if plain[slice(*wrong)].strip() else None


def _made(
    reading: Reading,
    start: int,
    end: int,
    parts: tuple[Span, Span] | None,
    skills: Sequence[SkillCue],
) -> Correction:
    wrong, correct = (reading.folded.typed(*part) for part in parts) if parts else (None, None)
    skill = skill_in(reading.folded.text, skills)
    return Correction(
        rule=reading.folded.typed(start, end),
        wrong=wrong,
        correct=correct,
        domain=skill.domain if skill else None,
        skill=skill.name if skill else None,
    )
