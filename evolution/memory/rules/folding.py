"""A text in the form in which phrases are looked for, with the way back to what was typed."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from common.text import without_format_characters

#: Longer texts are cut: nobody teaches behind ten thousand characters, and every rule stays fast.
MAX_TEXT = 10_000

#: What stands for characters that no phrase may be found in; neither a letter nor a mark of punctuation.
BLOT = "\ufffc"

_APOSTROPHES = str.maketrans("\u2019\u02bc\u00b4", "'''")
_LINE_ENDS = frozenset("\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")
# Only letters of the default phrases and of the cues; a traditional text keeps its letters when it is stored.
_SIMPLIFIED = str.maketrans(
    "記這個後對學會規則來謝沒應為麼別無需點樣習話時問說們請歡項產須顧議進見給幫嗎過還種錯裡讓寫關從條現動檢該當實務於歲幾誰",
    "记这个后对学会规则来谢没应为么别无需点样习话时问说们请欢项产须顾议进见给帮吗过还种错里让写关从条现动检该当实务于岁几谁",
)

# What stands in quotation marks, in code, or behind `>` is spoken of, not said.
_QUOTED_RE = re.compile(
    '```.*?(?:```|\\Z)|`[^`\n]*`|"[^"\n]*"|“[^“”\n]*”|「[^「」\n]*」|『[^『』\n]*』|《[^《》\n]*》|‘[^‘\'\n]*\''
    "|«[^«»\n]*»|(?<!\\w)'[^'\n]*'(?!\\w)|^[ ]?>[^\n]*",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Folded:
    """`text` is folded; `offsets[i]` is where its character i began in `original` (one more for the end).

    `said` is `text` with everything quoted blotted out, of the same length.
    """

    original: str
    text: str
    said: str
    offsets: list[int]

    def typed(self, start: int, end: int) -> str:
        """What was typed for the folded characters `start` to `end` (exclusive), trimmed."""
        return self.original[self.offsets[start] : self.offsets[end]].strip() if start < end else ""


def fold(text: str) -> Folded:
    """Fold the first 10,000 characters: NFKC, casefold, simplified letters, no format characters.

    Straight apostrophes, one space for a run of spaces, LF for a line end. docs/rules.md: phrases.
    """
    original = text[:MAX_TEXT]
    pieces: list[str] = []
    offsets: list[int] = []
    for position, char in enumerate(original):
        folded = _folded(char)
        if folded == " " and pieces and pieces[-1] == " ":
            continue
        if folded:
            pieces.append(folded)
            offsets.extend([position] * len(folded))
    offsets.append(len(original))
    plain = "".join(pieces)
    return Folded(original, plain, _QUOTED_RE.sub(blotted, plain), offsets)


def folded_phrase(text: str) -> str:
    """A phrase or a cue in the folded form."""
    return fold(text.strip()).text


def blotted(found: re.Match[str]) -> str:
    """A match replaced by as many blots."""
    return BLOT * len(found[0])


@lru_cache(maxsize=20_000)
def _folded(char: str) -> str:
    if char in _LINE_ENDS:
        return "\n"
    if char.isspace():
        return " "
    plain = unicodedata.normalize("NFKC", without_format_characters(char).translate(_APOSTROPHES))
    return unicodedata.normalize("NFKC", plain.casefold()).translate(_SIMPLIFIED)
