"""The phrases, ready to be found: longest first, Latin ones as whole words, one optional gap in each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from common.text import CJK
from evolution.memory.rules.folding import folded_phrase

#: What stands in a phrase for any short text of the same sentence.
GAP = "..."
#: A gap is at most this many characters long.
MAX_GAP = 60
#: Text in which a phrase occurs more often is no message; the rest of the occurrences is not read.
MAX_FOUND = 200

LETTER = rf"[^\W{CJK}]"
_ANY_IN_SENTENCE = r"(?:[^.!?。\n]|\.(?=\w))"
# Neither part of a longer word, of a name such as `redo-log`, nor of a call or an address.
_WORD_START = rf"(?<!{LETTER})(?<![-'/\\@#$])"
_WORD_END = rf"(?!{LETTER}|'[a-z]|-{LETTER}|\()"


class Kind(StrEnum):
    """What a phrase is a sign of."""

    TEACH = "teach"
    FORBID = "forbid"
    INTROSPECT = "introspect"
    POSITIVE = "positive"
    NEGATIVE = "negative"
    GUARD = "guard"


@dataclass(frozen=True)
class Found:
    """A phrase (folded) at `start` to `end` of a folded text; `gap` is where its gap was filled."""

    kind: Kind
    phrase: str
    language: str
    start: int
    end: int
    gap: tuple[int, int] | None = None


class Lexicon:
    """Finds phrases; built from (kind, language, text). docs/rules.md: phrases."""

    def __init__(self, phrases: Iterable[tuple[str, str, str]]) -> None:
        kinds: dict[Kind, dict[str, str]] = {kind: {} for kind in Kind}
        for kind, language, text in phrases:
            # A gap needs something on both sides.
            if phrase := folded_phrase(text).strip(". "):
                kinds[Kind(kind)].setdefault(phrase, language)
        self._searches = {kind: _Search(kind, known) for kind, known in kinds.items() if known}

    def find(self, kind: Kind, text: str) -> Iterator[Found]:
        """The phrases of one kind in a folded text, from left to right, never overlapping."""
        search = self._searches.get(kind)
        return search.find(text) if search else iter(())


class _Search:
    """One pattern for all phrases of a kind; no phrase is ever read as a regular expression."""

    def __init__(self, kind: Kind, languages: dict[str, str]) -> None:
        self.kind = kind
        self.languages = languages
        self.phrases = sorted(languages, key=lambda phrase: (-len(phrase), phrase))
        first = "".join(re.escape(char) for char in sorted({phrase[0] for phrase in self.phrases}))
        branches = "|".join(_branch(number, phrase) for number, phrase in enumerate(self.phrases))
        # The class in front spares trying every phrase at every character.
        self.pattern = re.compile(f"(?=[{first}])(?:{branches})")

    def find(self, text: str) -> Iterator[Found]:
        for match in islice(self.pattern.finditer(text), MAX_FOUND):
            group = str(match.lastgroup)
            phrase = self.phrases[int(group[1:])]
            gap = match.span(f"g{group[1:]}") if f"g{group[1:]}" in self.pattern.groupindex else None
            yield Found(self.kind, phrase, self.languages[phrase], match.start(), match.end(), gap)


def _branch(number: int, phrase: str) -> str:
    # A second gap would be literal: two of them could be filled in too many ways.
    pieces = [_piece(piece.strip()) for piece in phrase.split(GAP, 1)]
    gap = rf"(?P<g{number}>{_ANY_IN_SENTENCE}{{1,{MAX_GAP}}}?)"
    return f"(?P<p{number}>{gap.join(pieces)})"


def _piece(piece: str) -> str:
    body = re.escape(piece).replace(r"\ ", "[ \n]").replace("'", "'?")
    start = _WORD_START if re.match(LETTER, piece) else ""
    end = _WORD_END if re.search(f"{LETTER}$", piece) else ""
    return f"{start}{body}{end}"
