"""The grammar of commit subjects: does this line say that something was wrong and has been put right? Pure.

Each pattern is anchored and free of nested repetition, and only the first line, cut to 1,000 characters, is
read, so the time is proportional to that. docs/rules.md: commit grammar.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from common.text import nfkc
from evolution.lessons.rules.upkeep import answers_review, is_upkeep

MAX_SUBJECT = 1000

#: type -> the word in the reason of the skip.
NEVER_TYPES = {
    "docs": "docs",
    "doc": "docs",
    "test": "test",
    "tests": "test",
    "style": "style",
    "chore": "chore",
    "ci": "ci",
    "build": "build",
    "feat": "feat",
    "feature": "feat",
}
#: A fix whose scope is one of these mends no behaviour.
NEVER_SCOPES = frozenset({"docs", "doc", "style", "typo", "typos", "lint", "readme"})

_TYPED_RE = re.compile(
    r"(?P<type>[a-z][a-z-]{0,30})\s?(?:\((?P<scope>[^():]{0,200})\)|\[(?P<box>[^\[\]:]{0,200})\])?\s?(?P<bang>!)?\s?:"
)
_FIX_TYPES = frozenset({"fix", "bugfix", "hotfix"})
_REVERT_RE = re.compile(r"(?:revert|reverts|reverted)(?![\w/-])")
_ROLLBACK_RE = re.compile(r"(?:rollback|roll[ -]back)(?![\w/-])(?:\([^()]{0,200}\))?!?[\s:]*(?P<next>[a-z]*)")
#: Behind one of these words rollback is the topic, not the act.
_TOPIC_WORDS = frozenset({"on", "in", "is", "now", "when", "should", "for", "support"})
_WIP_RE = re.compile(r"(?:\[wip\]|wip(?![\w-]))")
_WIP_ACT_RE = re.compile(r"(?:rollback|roll back|undo|revert)")
_CHINESE_RE = re.compile(r"(?:修复|修正|回滚|撤销|回退)")
_PLAIN_FIX_RE = re.compile(r"fix\s+(?=[^\W\d_]|[\"'`(\[#\d])")

_FEW = r"(?:(?:an?|the|some|several|few|more|minor|small|tiny|various|all|another|one|multiple)\s)*"
_TRIFLE = (
    r"(?:typo|typos|typographical|spelling|misspelling|misspellings|misspelt|grammar|wording|lint|linting|linter"
    r"|lints|eslint|tslint|stylelint|pylint|flake8|ruff|prettier|formatting|whitespace|indentation)"
)
_TRIFLE_TAIL = r"(?:\s(?:errors?|issues?|mistakes?|warnings?|failures?|problems?|complaints?))?"
# Behind `in`, `of`, ... only a place may follow: one that goes on tells of more than a typo.
_TRIFLE_PLACE = r"(?:\s(?:in|of|on|at|from|for|within)\s\S{1,60}(?:\s\S{1,60}){0,4})?"
_TRIFLE_RE = re.compile(
    rf"{_FEW}(?:[\w./-]{{1,40}}\s)?{_TRIFLE}{_TRIFLE_TAIL}{_TRIFLE_PLACE}[\s.!]*(?:\(#[0-9]+\))?"
)
# What a formatter or an import sorter did.
_TIDIED_RE = re.compile(
    r"(?:(?:ruff|black|prettier|eslint|isort)\s(?:format|fix)|format\s\S{1,60}\s(?:with|using)\s|import\s(?:sort|order)"
    r"|sort\simports|re-?format)(?!.{0,400}\sand\s)"
    r"|[^,;]{1,120}\sto\s(?:satisfy|please|appease)\s(?:the\s)?(?:ruff|lint|linter|eslint|flake8|pylint|prettier)\s*$"
)
_TRIFLE_ZH_RE = re.compile(
    r"(?:(?:修复|修正)\s?)?(?:[^\s,，、;；。]{0,12}?)"
    r"(?:错别字|错字|拼写|笔误|eslint|lint|代码格式)\s?(?:的)?(?:错误|问题|报错|警告|告警)?[\s。.]*"
)

_GRAVE_RE = re.compile(
    r"(?<![a-z])security(?![a-z])|vulnerab|(?<![a-z])cve(?![a-z])|data[ -]?loss|安全|漏洞|数据丢失"
)


@dataclass(frozen=True)
class Verdict:
    """What a subject says.

    `form` is fix, revert, rollback, wip, chinese, experience or plain_fix, empty for a skip; then `reason`
    holds the code of the reason. `title` is the subject without type and scope, as it was written.
    """

    form: str = ""
    confidence: float = 0.0
    scope: str = ""
    is_breaking: bool = False
    title: str = ""
    reason: str = ""

    @property
    def is_captured(self) -> bool:
        return bool(self.form)


def first_line(message: str) -> str:
    """The first line of a message that shows something, trimmed and cut to what is read."""
    head = message[: 4 * MAX_SUBJECT].replace("\r", "\n").lstrip()
    return head.split("\n", 1)[0].strip()[:MAX_SUBJECT]


def judge_subject(subject: str) -> Verdict:
    """Whether the subject has the form of a fix, a revert or a rollback. docs/rules.md: commit grammar."""
    written = first_line(subject)
    folded = nfkc(written).casefold().strip()
    typed = _TYPED_RE.match(folded)
    if not typed:
        return _untyped(folded, written)
    kind = typed["type"]
    scope = (typed["scope"] or typed["box"] or "").strip()
    rest = folded[typed.end() :].strip()
    if kind in NEVER_TYPES:
        return Verdict(reason=f"type_{NEVER_TYPES[kind]}")
    if kind == "experience":
        form, confidence = "experience", 1.0
    elif kind in _FIX_TYPES:
        if scope in NEVER_SCOPES:
            return Verdict(reason="scope_docs_or_style")
        form, confidence = "fix", 0.9
    elif kind in ("revert", "reverts", "reverted"):
        form, confidence = "revert", 0.9
    elif _CHINESE_RE.match(rest):
        form, confidence = "chinese", 0.8
    else:
        return _untyped(folded, written)
    if form in ("fix", "chinese") and (reason := _reason_against(rest, typed["bang"] is not None)):
        return Verdict(reason=reason)
    title = _behind_colon(written) or written
    return Verdict(form, confidence, scope, typed["bang"] is not None, title)


def is_trifle(text: str) -> bool:
    """Whether a folded subject without its type speaks of a typo or a linter's complaint only."""
    return bool(_TRIFLE_RE.fullmatch(text) or _TRIFLE_ZH_RE.fullmatch(text) or _TIDIED_RE.match(text))


def _reason_against(rest: str, is_breaking: bool = False) -> str:
    """Why a fix tells of no mistake; empty when it does."""
    if is_trifle(rest):
        return "typo_or_lint"
    if answers_review(rest) or (is_upkeep(rest) and not is_breaking and not is_grave(rest)):
        return "upkeep"
    return ""


def is_grave(text: str) -> bool:
    """Whether a line names security or lost data."""
    return _GRAVE_RE.search(nfkc(text[:MAX_SUBJECT]).casefold()) is not None


def _untyped(folded: str, written: str) -> Verdict:
    if _REVERT_RE.match(folded):
        return Verdict("revert", 0.9, title=written)
    if rollback := _ROLLBACK_RE.match(folded):
        if rollback["next"] in _TOPIC_WORDS:
            return Verdict(reason="not_a_rollback")
        has_colon = ":" in folded[: rollback.end()]
        return Verdict("rollback", 0.6, title=(_behind_colon(written) if has_colon else "") or written)
    if wip := _WIP_RE.match(folded):
        if _WIP_ACT_RE.search(folded, wip.end()):
            return Verdict("wip", 0.6, title=written)
        return Verdict(reason="no_matching_form")
    if _CHINESE_RE.match(folded):
        reason = _reason_against(folded)
        return Verdict(reason=reason) if reason else Verdict("chinese", 0.8, title=written)
    if plain := _PLAIN_FIX_RE.match(folded):
        if reason := _reason_against(folded[plain.end() :]):
            return Verdict(reason=reason)
        return Verdict("plain_fix", 0.6, title=written)
    return Verdict(reason="no_matching_form")


def _behind_colon(written: str) -> str:
    """What follows the colon of the type; a colon of any width is one after NFKC."""
    at = next((at for at, char in enumerate(written) if nfkc(char) == ":"), len(written))
    return written[at + 1 :].strip()
