"""What a user wants kept, or never done again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from evolution.memory.rules import trimming
from evolution.memory.rules.folding import MAX_TEXT, fold
from evolution.memory.rules.lexicon import Found, Kind, Lexicon
from evolution.memory.rules.signs import Reading, read
from evolution.memory.rules.skills import SkillCue, skill_in


class IntentType(StrEnum):
    """What a teaching is about; a later room turns it into a target."""

    USER_PREFERENCE = "user_preference"
    RELATIONSHIP_MEMORY = "relationship_memory"
    BEHAVIOR_RULE = "behavior_rule"
    SKILL_OPTIMIZATION = "skill_optimization"
    KNOWLEDGE = "knowledge"


@dataclass(frozen=True)
class Intent:
    """`content` as typed; empty with `needs_content`. `target_hint` is the skill's name, for that type only."""

    type: IntentType
    content: str
    needs_content: bool = False
    target_hint: str | None = None


#: The first whose words occur decides; a skill comes before `KNOWLEDGE`.
_CUES = (
    (
        IntentType.USER_PREFERENCE,
        re.compile(
            r"我喜欢|我希望|我想(?![想到起问知])|\bprefers?\b"
            r"|\b(?:i|we|i'd|we'd|would|really|also|always)(?: \w+)? like\b"
        ),
    ),
    (
        IntentType.RELATIONSHIP_MEMORY,
        re.compile(
            r"我的项目|我们公司|(?<![给帮让替为])我在|\bmy (?:project|company|team)\b|\bour company\b"
            r"|\bi work\b|\bi(?: a|')m based\b"
        ),
    ),
    (
        IntentType.BEHAVIOR_RULE,
        re.compile(r"规则|必须|禁止|不要|\b(?:always|never|must|rules?|forbidden)\b"),
    ),
)
_BOUNDARY_RE = re.compile(r"[,;:.!?。、\n…—](?!\w{0,3}[.,]\d)")
#: Teaching phrases whose content stands in front of them without a pause ("use tabs from now on").
_TRAILING = frozenset({"from now on"})
_PREFIX = {"zh": "不要", "en": "Never "}
_PREFIX_OF_PREVIOUS = {"zh": "不要这样：", "en": "Never do this: "}
_ALREADY_RE = re.compile(r"再| ?(?:ever|want you to|you dare) ")


def intent(
    text: str, lexicon: Lexicon, previous: str | None = None, skills: Sequence[SkillCue] = ()
) -> Intent | None:
    """What the message teaches or forbids, or None. `previous` is the message before it, of whichever side.

    Content is what follows the phrase; else what stands before it; else `previous`. docs/rules.md: teaching.
    """
    reading = read(text, lexicon)
    told = reading.of(Kind.TEACH, Kind.FORBID)
    if not told:
        return None
    last, start = _first_content(reading, told)
    if last.kind is Kind.FORBID:
        return _forbidden(reading, last, previous, skills)
    plain = reading.folded.text
    scope = plain[told[0].start :]
    if content := _behind(reading, last, start):
        return _typed(content, scope, skills)
    if content := _before(reading, told[0]):
        return _typed(content, plain, skills)
    return _about_previous(scope, previous, "", skills)


def _behind(reading: Reading, last: Found, start: int) -> str:
    """What stands behind the phrase, unless it only points at something else."""
    plain = reading.folded.text
    end = trimming.cut_tail(plain, start, len(plain), _closing(reading))
    start = trimming.skip_opening(plain, start, end)
    if trimming.is_pointed_at(last.phrase, plain[last.end :].rstrip()):
        return ""
    return "" if trimming.points_elsewhere(plain[start:end]) else reading.folded.typed(start, end)


def _first_content(reading: Reading, told: Sequence[Found]) -> tuple[Found, int]:
    """The last of the phrases that open the message in a row, and where the content behind it begins."""
    plain = reading.folded.text
    starts = {found.start: found for found in told}
    found = told[0]
    while True:
        start = trimming.skip_head(plain, found.end, len(plain))
        announced = trimming.skip_announcement(plain, start, len(plain))
        start = trimming.skip_head(plain, announced, len(plain))
        following = starts.get(trimming.skip_opening(plain, start, len(plain)))
        if found.kind is Kind.FORBID or following is None:
            return found, start
        found = following


def _closing(reading: Reading) -> list[Found]:
    return reading.of(Kind.TEACH, Kind.POSITIVE)


def _before(reading: Reading, first: Found) -> str:
    """What stands before the phrase as a clause of its own, unless it only praises or asks."""
    plain = reading.folded.text
    end = first.start
    if first.phrase not in _TRAILING:
        breaks = [found.end() for found in _BOUNDARY_RE.finditer(plain, 0, end)]
        end = breaks[-1] if breaks else 0
    opening = {found.start: found.end for found in reading.of(Kind.POSITIVE)}
    start = trimming.skip_head(plain, 0, end)
    while start in opening:
        start = trimming.skip_head(plain, opening[start], end)
    start = trimming.skip_opening(plain, start, end)
    end = trimming.cut_tail(plain, start, end, _closing(reading)) if start < end else start
    region = plain[start:end]
    if trimming.is_praise(region) or trimming.is_mere_request(region) or trimming.points_elsewhere(region):
        return ""
    return reading.folded.typed(start, end)


def _forbidden(reading: Reading, found: Found, previous: str | None, skills: Sequence[SkillCue]) -> Intent:
    plain, folded = reading.folded.text, reading.folded
    end = trimming.cut_tail(plain, found.end, len(plain), _closing(reading), asking=True)
    start = trimming.skip_head(plain, found.end, end)
    gap = ""
    if found.gap is not None:
        gap = folded.typed(_without_repetition(plain, *found.gap), found.gap[1])
        start = found.end
    start = _without_repetition(plain, start, end)
    rest = folded.typed(start, end)
    if gap:
        rest = f"{gap}{'' if not rest or not rest[0].isalnum() else ' '}{rest}"
    if trimming.points_elsewhere(fold(rest).text.strip()):
        prefix = _PREFIX_OF_PREVIOUS.get(found.language, _PREFIX_OF_PREVIOUS["en"])
        return _about_previous(plain[found.start :], previous, prefix, skills)
    prefix = _PREFIX.get(found.language, _PREFIX["en"])
    return _typed(f"{prefix}{rest}", f"{prefix}{plain[found.start :]}".casefold(), skills)


def _without_repetition(plain: str, start: int, end: int) -> int:
    found = _ALREADY_RE.match(plain, start, end)
    return found.end() if found else start


def _about_previous(scope: str, previous: str | None, prefix: str, skills: Sequence[SkillCue]) -> Intent:
    said = (previous or "")[:MAX_TEXT].strip()
    scope = f"{prefix}{scope} {fold(said).text}".casefold()
    if not said:
        kind, _skill = _type(scope, skills)
        return Intent(kind, "", needs_content=True)
    return _typed(f"{prefix}{said}", scope, skills)


def _typed(content: str, scope: str, skills: Sequence[SkillCue]) -> Intent:
    kind, skill = _type(scope, skills)
    return Intent(kind, content, target_hint=skill.name if skill else None)


def _type(scope: str, skills: Sequence[SkillCue]) -> tuple[IntentType, SkillCue | None]:
    for kind, cue in _CUES:
        if cue.search(scope):
            return kind, None
    skill = skill_in(scope, skills)
    return (IntentType.SKILL_OPTIMIZATION, skill) if skill else (IntentType.KNOWLEDGE, None)
