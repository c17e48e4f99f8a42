"""When a phrase does not mean what it says: longer words, denials, questions, the shape it needs around it.

All patterns here are fixed, work on folded text, and look at a bounded piece of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from common.text import CJK

#: How far in front of a phrase its context is read, and how far behind it.
HEAD = 60
TAIL = 160

# Words in which a phrase is hidden, sayings that turn it round, and texts given to be worked on.
_LOOKALIKES = (
    "要不要再?",
    "不要紧",
    "(?:登记|书记)住",
    "忘记住(?=[址处])",
    "记住(?=[址户宿院所房])",
    "[特分区级类识个性告道离差辨鉴派国]别",
    "别[人的处名扭具致墅]",
    "(?<!不)对不对",
    "不对[称外等齐接口]",
    "好的是",
    "日记下来",
    "不(?:用了?|了)?,? ?谢谢",
    r"\bno,? thanks",
    r"\bthanks (?:to|in advance|for nothing)\b",
    r"\bgreat (?:deal|many|wall|britain|lakes|circle)\b",
    r"\bundo ?(?:/|and|or|&) ?redo\b",
    r"\bredo[ -](?:button|log|stack|history|command|operation|key|icon|feature)s?\b",
    r"\bnever mind\b",
    r"(?:翻译|润色|改写|校对|朗读|\b(?:translate|proofread|polish|paraphrase|rephrase)\b)[^:.!?。\n]{0,40}:(?s:.*)",
)
LOOKALIKE_RE = re.compile("|".join(_LOOKALIKES))

#: Words that may stand between a guard and what it guards.
GUARDED_BY_RE = re.compile(
    r" ?(?:再|去|都|帮我|给我|替我|特意|刻意|专门|[把将][^,;:.!?。\n]{1,15}"
    r"|(?:need|have|bother|try) to|bother|even|ever)? ?"
)

_CLAUSE = rf"(?:\A|[.!?,;:\n。、…—–()\[\]~*#>{CJK}\ufffc-] ?)"
# What may stand between the beginning of a clause and a command.
_ASKING = (
    r"(?:(?:please|pls|kindly|also|so|and|but|or|ok|okay|hey|hi|now|then|just|to|well|yes|no|again|next time"
    r"|in (?:the )?future|make sure (?:to|you)|be sure to|try to"
    r"|(?:i|we)(?: want| need|'d like| would like) you to"
    r"|(?:you|we|one|they|it|this|agents?) (?:should|must|can|may|shall|ought to|need to|have to)),? ){0,3}"
)
_COMMAND = rf"{_CLAUSE}{_ASKING}"
_PAST = (
    r" ?(?:mind|have|having|had|has|been|being|seen|heard|thought|knew|was|were|did|got|came|went|said|a|an"
    r"|do (?:i|we|you)|in (?:my|our|the)"
    r"|(?!(?:need|feed|seed|speed|embed|exceed|proceed|succeed|shed|shred|breed)\b)\w+ed)\b"
)


@dataclass(frozen=True)
class Shape:
    """What a default phrase needs in front of it and behind it (folded text, a bounded piece of it)."""

    before: str = ""
    after: str = ""

    def fits(self, head: str, tail: str) -> bool:
        """Whether the pieces of text around the phrase allow it."""
        return bool(re.search(rf"(?:{self.before})\Z", head)) and bool(re.match(self.after, tail))


_PAUSE = r"(?: |\Z|[^\w\ufffc])"
_SIGH = "[了啊呀哈呢嘛噢哦喔哟嘞吧的诶]"

#: Default phrases that are common as parts of sentences about something else.
SHAPES = {
    "记住": Shape(after=r"(?!了?(?:吗|没|么)|不|了[。.!]?\s*\Z)"),
    "不要再": Shape(before=r"(?<![我他她])(?<!再也)"),
    "以后都这样": Shape(after="(?!吗)"),
    "never": Shape(
        before=rf"{_COMMAND}|{_CLAUSE}(?:please|always) [^,;:.!?\n]{{1,50}} (?:and|but) ",
        after=rf"(?!{_PAST})",
    ),
    "don't ... again": Shape(before=rf"{_COMMAND}(?:i )?"),
    "好的": Shape(
        before=r"(?:\A|[^\w\ufffc]|[嗯哦噢恩行那挺很蛮真都还的])",
        after=rf"{_PAUSE}|{_SIGH}|[我你那就没收谢明知再请先继下这好]",
    ),
    "great": Shape(after="(?! ?(?:[?]|big|long|old))"),
    "不对": Shape(after=rf"{_PAUSE}|{_SIGH}|应[该当]|[要得]|重新|劲"),
    "redo": Shape(before=rf"{_COMMAND}(?:(?:can|could|would|will) you (?:please )?)?", after=rf"{_PAUSE}"),
}
# What "don't … again" is filled with when it encourages or leaves a choice.
_NO_PROHIBITION_RE = re.compile(
    r" ?(?:worry|hesitate|forget|mind|be afraid|need to|have to|want to|think|know|understand|see|wait|panic)\b"
)

_DENIED_BEFORE = {
    "teach": re.compile(
        r"(?:没有?|没人能?|[让令叫]人|未|无法|(?<!能)不能|(?<!会)不会|不想|没能|(?<![别要不])忘记?了?)(?:再|去|能|有|把(?:它|这个))?\Z"
        r"|(?<![帮给替为让叫跟对和])[我他她](?:们)?(?:已经|会|都|也|想|要|得|刚刚?|终于|一定|永远|就|可以|能|应该|先|还|总|一直)*\Z"
        r"|(?<![帮给替为让叫跟对和])[我他她](?:们)?(?:已经)?[把将][^,;:.!?。\n]{1,15}\Z"
        r"|(?:说|写着|写道|提到|输入|所谓) ?:? ?\Z"
        r"|\b(?:i|we)(?: \w+){0,2} \Z|\b(?:they|he|she)(?: \w+){0,4} \Z"
        r"|\b(?:do|did) you (?:still |even |also )?\Z|\A ?you \Z"
        r"|\b(?:can't|cannot|couldn't|didn't|doesn't|won't|not|never|hard to|how to|way to|tried to|trying to)"
        r"(?: to)? \Z"
        r"|\b(?:said|says|say|written|called) ?:? ?\Z"
    ),
    "positive": re.compile(
        r"\b(?:not|isn't|wasn't|aren't|no|less than|would be|it'd be|will be|hardly|never|far from|nothing)"
        r"(?: (?:so|that|very|really|too|a|exactly|all that|as))? \Z|(?:[不没别先]|提前)\Z"
    ),
    "negative": re.compile(
        r"(?:没|没有|没什么|没啥|不是|并非|没觉得|不觉得|没发现|没看出|看不出|没看到|看不到|未发现|不存在|无)"
        r"(?:有|什么|任何|哪里|地方|啥|何|太大的?)*\Z"
        r"|(?:如果|要是|假如|若|万一|倘若|一旦|哪里|哪儿|什么地方|有什么|有没有|是否|是不是|会不会|看看|检查|[怕有])"
        r"[^,。!?\n]{0,10}\Z"
        r"|\b(?:not|nothing|isn't|wasn't|aren't|no|never|don't think|doesn't mean|if|whether|unless|in case|when)"
        r"(?: (?:that|think|really|to|say|so|it's|it is|all|is|you))*? \Z"
    ),
}
_DENIED_AFTER = {
    "positive": re.compile(r" ?(?:吗|么|话|\?)"),
    "negative": re.compile(r"的? ?(?:吗|么|\?|吧\?|的?话|地方|or not\b)"),
}

_ZH_ASKS_RE = re.compile("为什么|为何|怎么|怎样|如何|哪里|是不是|是否|要不要|该不该|有没有|谁|何时|什么时候")
_WHATEVER_RE = re.compile("无论|不管|不论|no matter|whatever")
_EN_ASKS_RE = re.compile(
    r" ?(?:so |and |but )?(?:why|how (?:do|does|can|to|could|should|would)|do you|did you|does|should (?:i|we)|is it"
    r"|are (?:you|we)|have you)\b"
)
_EN_ASKS_WITH_MARK_RE = re.compile(r"\b(?:why|how|what|when|where|who|which|whether)\b")
_POLITE_RE = re.compile(r"[能请帮]|可以|可否|麻烦|\b(?:can|could|would|will) you\b|\bplease\b")
_TAG = (
    r"(?:[, ]? ?(?:好吗|可以吗|行吗|好不好|行不行|明白了?吗|懂了?吗|知道了?吗|可以么|好么"
    r"|ok|okay|alright|all right|right|understood|got it|please|deal|can you|will you))"
)
TAG_RE = re.compile(rf"{_TAG} ?[?]*\Z")
#: A final 吗 or 么 that asks (not that of 什么).
ASKING = "(?:吗|(?<![什怎这那多要])么)"
_ASKED_RE = re.compile(rf"[^.!?。\n]*?(?:\?|(?:{ASKING}|没) ?(?:[。.!\n]|\Z))")
_HOW_MUCH_RE = re.compile("多少|几[个条次轮遍]|什么|哪")
_PAUSED_RE = re.compile(r" ?[:,;\n]")
_SENTENCE_RE = re.compile(r"[.!?。\n](?!\w)")


def around(text: str, start: int, end: int) -> tuple[str, str]:
    """The bounded pieces in front of and behind `start` to `end`."""
    head = text[max(0, start - HEAD) : start]
    # Cut off, the piece must not look like the beginning of the text.
    return (head if start <= HEAD else f"_{head}"), text[end : end + TAIL]


def is_prohibition(head: str, gap: str) -> bool:
    """Whether `don't <gap> again` forbids something; "don't worry, try again" does not."""
    if head.endswith("i "):
        return gap.startswith(" want you to")
    return _NO_PROHIBITION_RE.match(gap) is None


def is_denied(kind: str, head: str, tail: str) -> bool:
    """Whether the words around a phrase say that it does not hold, or only ask for it."""
    before, after = _DENIED_BEFORE.get(kind), _DENIED_AFTER.get(kind)
    return bool((before and before.search(head)) or (after and after.match(tail)))


def is_asked(head: str, tail: str) -> bool:
    """Whether the sentence only asks about what the phrase says; a polite request is no such question."""
    sentence = _SENTENCE_RE.split(head)[-1]
    if _ZH_ASKS_RE.search(sentence) and not _WHATEVER_RE.search(sentence):
        return True
    if _EN_ASKS_RE.match(sentence):
        return True
    asked = _ASKED_RE.match(tail)
    if not asked:
        return False
    if _EN_ASKS_WITH_MARK_RE.search(sentence):
        return True
    end = asked[0].rstrip("\n.!。 ")
    if _PAUSED_RE.match(tail):
        return False
    return bool(_HOW_MUCH_RE.search(end)) or not (_POLITE_RE.search(sentence) or TAG_RE.search(end))
