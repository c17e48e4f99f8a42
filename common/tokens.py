"""The one tokeniser: recall, similarity, plans and pattern reuse all see a text through it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from common.text import CJK, nfkc, without_format_characters

#: A two-character piece with one of these is grammar or politeness, not content.
DROPPED_CHARACTERS = frozenset("的了是在和把请帮我这那怎么吗呢")

# Function words of two characters; negations and 必须/禁止 stay, since they turn a meaning round.
_ZH = """
    一个 一些 一下 一种 一样 你们 他们 她们 它们 大家 自己 可以 可能 需要 应该 如果 因为 所以 但是 而且 或者
    以及 并且 然后 已经 其他 其它 其中 如何 哪些 哪个 多少 进行 通过 对于 关于 由于 以便 以上 以下 以后 之后
    之前 之间 时候 同时 还有 就要 也要 都要 都会 也会 就会 比如 例如 等等 麻烦 谢谢
"""
# Function words of two letters or more (single letters are dropped anyway); not, no, never, always stay.
_EN = """
    an the and or but if then else of to in on at by for with from as into about is are was were be been being
    am do does did doing done has have had having can could will would shall should may might this that these
    those there here it its he she him his her they them their we us our you your me my who whom whose which
    what when where why how so than too very just also such some any each both please
"""
STOP_WORDS_ZH = frozenset(_ZH.split())
STOP_WORDS_EN = frozenset(_EN.split())
STOP_WORDS = STOP_WORDS_ZH | STOP_WORDS_EN

_JOINTS = r"._/+\-"
_WORD = rf"[^\W_{CJK}]+"
# Joints stand alone between words, so `wait...what` is two words. A `.` in front belongs to names like .net,
# but not behind another word or dot; `+` and `#` behind belong to c++ and c#.
_TOKEN_RE = re.compile(
    rf"(?P<run>[{CJK}]+)|(?:(?<![\w.])\.)?{_WORD}(?:[{_JOINTS}]{_WORD})*[+#]*",
)
_JOINT_RE = re.compile(rf"[{_JOINTS}#]")


def tokens(text: str) -> list[str]:
    """The tokens of a text, unique, in order of first appearance. docs/rules.md: tokeniser.

    Han, kana and Hangul give pieces of two characters; other letters and digits give words and the
    identifiers joined from them (the identifier first, then its words). Text without letters or digits gives
    an empty list. Time grows linearly with the text.
    """
    return list(dict.fromkeys(occurrences(text)))


def occurrences(text: str) -> list[str]:
    """The same tokens with their repetitions, for counting how often each occurs."""
    folded = nfkc(nfkc(without_format_characters(text)).casefold())
    found = (
        token
        for match in _TOKEN_RE.finditer(folded)
        for token in (_pieces(match[0]) if match["run"] else _words(match[0]))
    )
    return [token for token in found if token not in STOP_WORDS]


def _pieces(run: str) -> Iterator[str]:
    pieces = [run] if len(run) == 1 else map("".join, pairwise(run))
    return (piece for piece in pieces if DROPPED_CHARACTERS.isdisjoint(piece))


def _words(identifier: str) -> Iterator[str]:
    words = [word for word in _JOINT_RE.split(identifier) if word]
    return (word for word in dict.fromkeys((identifier, *words)) if len(word) > 1 or word.isdecimal())


def similarity(one: Sequence[str], other: Sequence[str]) -> float:
    """|A∩B| / max(|A|, |B|) of two token lists, in [0, 1]; 0 when either is empty.

    docs/rules.md: similarity.
    """
    first, second = set(one), set(other)
    if not first or not second:
        return 0.0
    return len(first & second) / max(len(first), len(second))
