"""A rule was written down, or the rules were rebuilt: such a commit tells of a lesson learned. Pure.

docs/rules.md: rule files.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from common.text import nfkc
from evolution.lessons.rules.churn import MAX_COMMIT_FILES
from evolution.lessons.rules.commits import Commit
from evolution.lessons.rules.kinds import MAX_TITLE
from evolution.lessons.rules.paths import directories, normalise_path
from evolution.lessons.rules.subjects import first_line

#: Rules for people and agents are texts; a Python package called `rules` is none.
TEXT_ENDINGS = (".md", ".mdc", ".markdown", ".txt", ".yml", ".yaml")

_REFACTOR_RE = re.compile(r"refactor\s?(?:\([^():]{0,200}\))?\s?!?\s?:")
# Automation of a code forge has such folders too.
_FORGE = frozenset({".github/", ".gitlab/", ".gitea/", ".forgejo/"})


@dataclass(frozen=True)
class RuleFile:
    """A file that gives a RULE-EXP draft; `reason` is `new_rule` or `refactored`."""

    path: str
    reason: str


def rule_title(file: RuleFile, language: str = "zh") -> str:
    """`新规则 <file>` or `重构规则 <file>`, at most 200 code points: a longer path loses its front."""
    words = {
        ("new_rule", "zh"): "新规则 ",
        ("refactored", "zh"): "重构规则 ",
        ("new_rule", "en"): "New rule ",
        ("refactored", "en"): "Rules rebuilt: ",
    }
    start = words[file.reason, "zh" if language == "zh" else "en"]
    room = MAX_TITLE - len(start)
    return start + (file.path if len(file.path) <= room else f"…{file.path[len(file.path) - room + 1 :]}")


def rule_files(commit: Commit, known: Collection[str] = ()) -> list[RuleFile]:
    """The rule files of a commit that have given no draft yet (`known`), in order, each once.

    A file counts when it is new under `rules/`, or lies under `rules/` or `workflows/` in a `refactor:`
    commit. A commit of more than 100 files moves or imports; it teaches nothing. A sender that does not say
    which files are new gets the second kind only.
    """
    if commit.is_merge or commit.is_boundary or commit.size > MAX_COMMIT_FILES:
        return []
    is_refactor = _REFACTOR_RE.match(nfkc(first_line(commit.subject)).casefold()) is not None
    found: dict[str, RuleFile] = {}
    for file in commit.files:
        path = normalise_path(file.path)
        above = {directory.rsplit("/", 2)[-2] for directory in directories(path)}
        is_text = path.casefold().endswith(TEXT_ENDINGS) and _FORGE.isdisjoint(directories(path))
        if not is_text or path in known or path in found:
            continue
        if "rules" in above and file.status == "A":
            found[path] = RuleFile(path, "new_rule")
        elif is_refactor and above & {"rules", "workflows"} and file.status != "D":
            found[path] = RuleFile(path, "refactored")
    return list(found.values())
