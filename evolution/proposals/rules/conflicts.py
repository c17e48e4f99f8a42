"""What a new line says that the old ones already say, or deny. Pure. docs/rules.md: conflicts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from common.text import CJK
from common.tokens import similarity, tokens
from evolution.proposals.rules.entries import comparable, plain

DUPLICATE, CONTRADICTION = "duplicate", "contradiction"

# "不得不" and "非…不可" demand.
_DOUBLE_RE = re.compile("不[得能可应]不|非(?P<what>[^,，。;；]{1,30}?)不可")
_FORBIDS_RE = re.compile(
    "绝对不[要能可应]|千万(?:不要|别)|再也不要|不要再|不要(?!紧)|不允许|不可以|不应该?当?|不该|不[得能准许宜]|不必(?!要)|不需要"
    "|不可(?![避免或缺思逆用])|绝不[要能可应]?|决不[要能可]?|从不|永不|永远不要?|严禁|禁止|杜绝|避免|切勿|切忌|请勿|勿"
    "|无需|无须|毋须"
    "|(?<![特分区级类识个性告道离差辨鉴派国])别(?![人的处名扭具致墅称说])"
    r"|\b(?:must not|mustn't|should not|shouldn't|shall not|shan't|may not|can not|cannot|can't|do not|don't"
    r"|need not|needn't|no need to|never|avoid|forbidden to|not allowed to)\b"
)
_DEMANDS_RE = re.compile(
    "一定要?|务必要?|必须要?|必需|应该|应当|总是|总要|始终|永远|每次都|一律|需要|(?<!无)须"
    "|(?<![重主需必次首紧只不摘概纪提简扼])要(?![求点么是素闻害领略件义])"
    "|(?<![响反供适相对效感呼照答])应(?![用急答对付])"
    r"|\b(?:always|should|must|shall|have to|has to|needs? to|required to|be sure to|make sure to)\b"
)
# A bare "not" decides only where no stronger word does.
_NEGATES_RE = re.compile(r"不|没有?|\b(?:not|no|without)\b|n't\b")
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u02bc": "'"})
_CJK_GAP_RE = re.compile(f"(?<=[{CJK}]) +(?=[{CJK}])")


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
    """Sign and rest of a line; one forbidding word makes it negative, whatever else it contains."""
    folded = plain(text).translate(_APOSTROPHES)
    rest, demands_twice = _DOUBLE_RE.subn(lambda found: f" {found['what'] or ''} ", folded)
    rest, forbids = _FORBIDS_RE.subn(" ", rest)
    rest, demands = _DEMANDS_RE.subn(" ", rest)
    sign = -1 if forbids else 1 if demands or demands_twice else 0
    if not sign:
        rest, negates = _NEGATES_RE.subn(" ", rest)
        sign = -1 if negates else 0
    return Polarity(sign, _CJK_GAP_RE.sub("", " ".join(rest.split())))


def find_conflicts(
    said: Sequence[str], own: Mapping[str, Iterable[str]], others: Mapping[str, Iterable[str]]
) -> Iterator[Conflict]:
    """Duplicates and contradictions of new lines among existing ones by place, each existing line once.

    `own` are the lines of the target itself, `others` (enabled experiences, cited lessons) can only
    contradict. Contradiction: the same tokens once the words of polarity are taken out, and exactly one
    of the two forbids.
    """
    keys = {comparable(line) for line in said}
    signs = _signs(said)
    letters = [frozenset("".join(words)) for words in signs]
    for where, lines, is_own in [
        *((where, lines, True) for where, lines in own.items()),
        *((where, lines, False) for where, lines in others.items()),
    ]:
        for line in lines:
            folded = plain(line)
            if is_own and folded and comparable(line) in keys:
                yield Conflict(DUPLICATE, where, line.strip())
            # Cheap test first: a document may have ten thousands of lines.
            elif any(wanted.issubset(folded) for wanted in letters) and _contradicts(folded, signs):
                yield Conflict(CONTRADICTION, where, line.strip())


def _signs(said: Iterable[str]) -> dict[frozenset[str], set[bool]]:
    """What the new lines are about (their tokens) -> whether they forbid it."""
    found: dict[frozenset[str], set[bool]] = {}
    for line in said:
        read = polarity(line)
        words = frozenset(tokens(read.rest))
        if words:
            found.setdefault(words, set()).add(read.sign < 0)
    return found


def _contradicts(line: str, signs: Mapping[frozenset[str], set[bool]]) -> bool:
    read = polarity(line)
    return (read.sign >= 0) in signs.get(frozenset(tokens(read.rest)), ())


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
