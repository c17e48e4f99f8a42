"""What is left of a message when phrases, courtesy and punctuation around its content are taken away."""

from __future__ import annotations

import re
from collections.abc import Sequence

from common.text import CJK
from evolution.memory.rules.idioms import ASKING, TAG_RE, TAIL
from evolution.memory.rules.lexicon import Found

# A dot, a hyphen or a tilde at the start of a word belongs to it: `.env`, `-5`, `~/bin`.
_BREAK = r"(?:[ \n,;:!。、…—–]|[.~-](?![\w/]|\.{1,2}[\w/]))"
_HEAD_RE = re.compile(rf"(?:(?:一下|[了啊哦噢呀哈吧哟喔的])+(?={_BREAK}|\Z)|{_BREAK})+")
_ASKING_END_RE = re.compile(rf"{ASKING}\Z")
_TAIL = " \n,;:.!。、…~—–-"
#: Words that a teaching begins with and that are no part of what is taught.
_OPENING_RE = re.compile(
    r"(?:我喜欢你们?|我希望你们?|能不能|可不可以|能否|请(?![求假教示柬帖愿客款函])你?"
    r"|(?:(?:can|could|would|will) you )?(?:please|kindly)\b|(?:can|could|would|will) you\b"
    r"|(?:i|we)(?: like| want|'d like| would like| prefer) you to\b|i prefer that you\b) ?,? ?"
)
_THING = (
    "规则|习惯|偏好|要求|格式|设置|设定|约定|做法|写法|流程|原则|知识|教训|信息|知识点|要点|事情?|情况|点"
    "|一点|这一点|这点"
)
_EN_THING = (
    "rule|preference|format|convention|requirement|lesson|setting|fact|point|advice|one|part|correction"
    "|information"
)
_EN_LATER = r"(?:for (?:next time|later|the future|future reference|me|us)|in (?:the )?future|forever|always|well|too)"
#: What a phrase that ends in "this" points at ("记住这个链接", "remember this link").
_POINTED_AT_RE = re.compile(rf"[{CJK}]{{1,4}}\??| [a-z]+(?: [a-z]+)?\??")
# "Remember this rule: ...": the thing only announces what follows.
_ANNOUNCED_RE = re.compile(rf"(?:{_THING})[:,]|(?: ?(?:{_EN_THING})| ?{_EN_LATER}| ?about \w+) ?[:,]")
_POINTING_RE = re.compile(
    rf"(?:{_THING}|[这那][个些样点]?(?:{_THING})?|这么|这样|那样|它|了|来|就好|就行|吧|啊|哦|[做写办说弄搞]|回答|处理|操作|输出"
    rf"|(?:{_EN_THING}|this|that|it|these|those|so|do|doing|make|like|way|please|{_EN_LATER})\b|[吗么?]|[ ,.!。])*"
)
_PRAISE_RE = re.compile(
    r"这个|这次|这样|那个|非常|特别|不错|完美|可以|喜欢|满意|正确|没错|没问题|回答|结果|格式|就是|[这那你得很太真挺都了的好棒对是做写嗯哦行]"
    r"|\b(?:this|that|it|is|was|it's|that's|very|so|looks?|works?|perfect(?:ly)?|nice|good|great|correct|right|yes"
    r"|exactly|well|done|awesome|excellent|love|like|i|the|answer|format|result|much|better|now|ok|okay)\b|[\W_]"
)
# What remains of "can you … ?" or "我希望你 …" once the phrase behind it is taken away.
_REQUEST_RE = re.compile(
    r"[请你您能可以否帮我给替要得都就也希望想让麻烦务必一定把将先再好吧那]"
    r"|\b(?:please|kindly|can|could|would|will|you|should|must|need|want|i|we|to|just|also|so|and|but|then|do|ok|okay"
    r"|like|i'd|have|always)\b|[\W_]"
)


def skip_head(text: str, start: int, end: int) -> int:
    """Where content begins: behind punctuation and particles at `start`."""
    found = _HEAD_RE.match(text, start, end)
    return found.end() if found else start


def skip_opening(text: str, start: int, end: int) -> int:
    """Behind "我希望你", "请", "please" and the like, as many as stand there."""
    while found := _OPENING_RE.match(text, start, end):
        start = found.end()
    return start


def skip_announcement(text: str, start: int, end: int) -> int:
    """Behind "规则：" or " rule: " at `start`."""
    found = _ANNOUNCED_RE.match(text, start, end)
    return found.end() if found else start


def cut_tail(text: str, start: int, end: int, closing: Sequence[Found], asking: bool = False) -> int:
    """Where content ends: before punctuation, tag questions, and `closing` phrases that stand alone.

    With `asking` the content may be a polite question, whose mark is cut too.
    """
    ends = {found.end: found.start for found in closing}
    while True:
        kept = start + len(text[start:end].rstrip(f"{_TAIL}?" if asking else _TAIL))
        if asking and (mark := _ASKING_END_RE.search(text, max(start, kept - 2), kept)):
            kept = mark.start()
        tag = TAG_RE.search(text, max(start, kept - TAIL), kept)
        if tag and start <= tag.start() < kept:
            kept = tag.start()
        elif kept in ends and start <= ends[kept] and _stands_alone(text, start, ends[kept]):
            kept = ends[kept]
        if kept == end:
            return kept
        end = kept


def _stands_alone(text: str, start: int, at: int) -> bool:
    return at == start or text[at - 1] in f"{_TAIL}?"


def points_elsewhere(text: str) -> bool:
    """Whether a folded text says nothing itself ("这样", "do that")."""
    return _POINTING_RE.fullmatch(text[:TAIL]) is not None and len(text) <= TAIL


def is_pointed_at(phrase: str, rest: str) -> bool:
    """Whether `rest`, right behind a phrase, only names what the phrase points at."""
    return phrase.endswith(("这个", "this")) and _POINTED_AT_RE.fullmatch(rest) is not None


def is_praise(text: str) -> bool:
    """Whether a short folded text only praises."""
    return len(text) <= TAIL and not _PRAISE_RE.sub("", text)


def is_mere_request(text: str) -> bool:
    """Whether a short folded text only asks for what the phrase behind it says ("can you", "我希望你")."""
    return len(text) <= TAIL and not _REQUEST_RE.sub("", text)
