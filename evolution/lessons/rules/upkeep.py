"""Fixes that tell of no mistake: numbers, names and labels kept up to date, answers to a review, polish. Pure.

Read from the captures of real histories: such a draft gives a reviewer nothing to warn of. Whatever else the line
names as going wrong keeps it. docs/rules.md: commit upkeep.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_REVIEW_RE = re.compile(
    r"address(?:es|ed|ing)?\s(?=.{0,80}\b(?:review|feedback|comments?|findings)\b)|(?:code\s)?review\s(?:feedback|comments)"
)
_NUMBERS_RE = re.compile(
    r"bump(?:s|ed)?\s|(?:set|sync|align|fix)(?:s|ed)?\s.{0,80}"
    r"\b(?:counts?|author|owner|attribution|versions?|logo|screenshots?|labels?|titles?|wording|status text"
    r"|\w{1,20} image)\b"
)
_POLISH_RE = re.compile(
    r"(?:polish|enhance|improve|update|adjust|tweak|clarify|simplify|restructure|support|expose)(?:e?d)?\s"
    r"|.{1,120}\sfor\s(?:clarity|improved|better)\b"
)
_POLISH_ZH_RE = re.compile(
    r"(?:优化|缩小|放大|调整|美化|隐藏|完善|统一|精简)[^,，;；]{0,30}"
    r"(?:间距|布局|字号|样式|文案|体验|排版|配色|颜色|图标|显示|列|升级基线)(?:$|[\s,，与和])"
)
#: Something did go wrong, or was kept from it.
_FAULT_RE = re.compile(
    r"\b(?:fix|prevent|avoid|crash|leak|hang|deadlock|race|fail|broken|wrong|missing|lost|stale|stop|so that"
    r"|instead of|incorrect|duplicate|match|resolve)"
    r"|修复|修正|避免|防止|解决|失败|异常|丢失|错误|崩溃|卡死|溢出|遮挡"
)
_DOCUMENT_RE = re.compile(
    r"(?:.*/)?(?:readme|changelog|license|contributing|security|notice)[^/]{0,60}|docs?/.*", re.IGNORECASE
)


def is_upkeep(text: str) -> bool:
    """Whether a folded subject without its type speaks of upkeep or polish only. docs/rules.md: commit upkeep."""
    found = _NUMBERS_RE.match(text) or _POLISH_RE.match(text) or _POLISH_ZH_RE.match(text)
    return found is not None and _FAULT_RE.search(_behind_verb(text)) is None


def answers_review(text: str) -> bool:
    """Whether it only says that somebody's remarks were followed, not which. docs/rules.md: commit upkeep."""
    return _REVIEW_RE.match(text) is not None


def touches_documents_only(paths: Sequence[str]) -> bool:
    """Whether there are files and each is a document about the project. docs/rules.md: commit upkeep."""
    return bool(paths) and all(_DOCUMENT_RE.fullmatch(path) for path in paths)


def _behind_verb(text: str) -> str:
    return text.partition(" ")[2] or text[2:]
