"""Which skill of an agent a text speaks of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evolution.memory.rules.folding import folded_phrase
from evolution.memory.rules.lexicon import LETTER

_LATIN_START_RE = re.compile(LETTER)
_LATIN_END_RE = re.compile(f"{LETTER}$")


@dataclass(frozen=True)
class SkillCue:
    """A skill's name, and the words of its domain, the one that names the domain first."""

    name: str
    words: tuple[str, ...] = ()

    @property
    def domain(self) -> str:
        """The word that names the domain; the skill's name where it has none."""
        return next((word for word in self.words if word.strip()), self.name)


def skill_in(text: str, skills: Sequence[SkillCue]) -> SkillCue | None:
    """The skill that a folded text names, else the one with the longest of its words in it; first of equals.

    A name counts with its hyphens as spaces too; Latin words count as whole words.
    """
    best: SkillCue | None = None
    best_weight = (0, 0)
    for skill in skills:
        for is_name, word in _cues(skill):
            weight = (int(is_name), len(word))
            if weight > best_weight and _occurs(word, text):
                best, best_weight = skill, weight
    return best


def _cues(skill: SkillCue) -> Iterator[tuple[bool, str]]:
    name = folded_phrase(skill.name)
    yield True, name
    yield True, re.sub("[-_]", " ", name)
    yield from ((False, folded_phrase(word)) for word in skill.words)


def _occurs(word: str, text: str) -> bool:
    at = text.find(word) if word else -1
    while at >= 0:
        end = at + len(word)
        joined_before = _LATIN_START_RE.match(word) and _LATIN_END_RE.match(text[at - 1 : at])
        joined_after = _LATIN_END_RE.search(word) and _LATIN_START_RE.match(text, end)
        if not joined_before and not joined_after:
            return True
        at = text.find(word, end)
    return False
