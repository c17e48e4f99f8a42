"""Agents as Markdown files: front matter with name and description, the body is the role definition."""

from __future__ import annotations

import re
from typing import Any

from django.utils.translation import gettext_lazy as _

from agents.importers.items import Draft, Item, SkippedItem, finished
from common.front_matter import FrontMatter, split_front_matter
from common.text import is_blank

_MAX_POINTER_LINES = 5
_TARGET = r"@?(?:[\w.\-]+[\\/])*[\w.\-]+\.(?:md|mdc|markdown|txt)"
#: `CLAUDE.md`, `@AGENTS.md`, `See docs/x.md.`, `[CLAUDE.md](./CLAUDE.md)`
_POINTER = re.compile(
    rf"(?:(?:see|read|参见|请看|详见|见)\s*[:：]?\s*)?(?:`?{_TARGET}`?|\[[^\]\n]*\]\({_TARGET}\))\s*[.。]?",
    re.IGNORECASE,
)
#: Pages about a collection, not members of it.
_COLLECTION_PAGE = re.compile(
    r"readme.*|(?:changelog|contributing|license|code_of_conduct|security)(?:[._-][a-z]{2}(?:[_-][a-z]+)?)?",
    re.IGNORECASE | re.DOTALL,
)
_LANGUAGES = {
    "zh": "zh",
    "cn": "zh",
    "chinese": "zh",
    "中文": "zh",
    "en": "en",
    "english": "en",
    "英文": "en",
}


def read_markdown(text: str, file: str, stem: str, *, in_folder: bool) -> list[Item]:
    """The one agent of a Markdown file, or why there is none.

    `stem` names the agent when the front matter does not. `in_folder`: the file was met in a folder, so a
    README without a name in its front matter is a page about the folder.
    Errors: `VALIDATION_ERROR` for an oversized front matter.
    """
    split = split_front_matter(text)
    if is_pointer(split.body):
        return [SkippedItem(file, split.body_line, str(_("pointer, nothing imported")))]
    name = _text(split.meta.get("name"))
    if not name and in_folder and _COLLECTION_PAGE.fullmatch(stem):
        return [SkippedItem(file, 1, str(_("a page about the folder (no name in a front matter), no agent")))]
    draft = Draft(
        line=1,
        name=name or stem,
        description=_text(split.meta.get("description")),
        system_prompt=split.body,
        tags=_names(split.meta.get("tags")),
        skill_names=_names(split.meta.get("skill_names", split.meta.get("skills"))),
        warnings=[(warning.line, warning.message) for warning in split.warnings],
    )
    if not name:
        draft.warnings.append((1, str(_("no name in a front matter; the file name was taken as the name"))))
    _take_language(draft, split)
    return [finished(draft, file)]


def is_pointer(body: str) -> bool:
    """Whether a text only names other files, so that it has nothing of its own to say."""
    lines = [line.strip() for line in body.split("\n") if not is_blank(line)]
    return 0 < len(lines) <= _MAX_POINTER_LINES and all(
        len(line) <= 300 and _POINTER.fullmatch(line) for line in lines
    )


def _take_language(draft: Draft, split: FrontMatter) -> None:
    stated = _text(split.meta.get("language", split.meta.get("lang")))
    if not stated:
        return
    draft.language = _LANGUAGES.get(re.split(r"[-_]", stated.casefold())[0])
    if draft.language is None:
        message = _("the language “%s” is not known; it was guessed from the text") % stated[:30]
        draft.warnings.append((1, str(message)))


def _text(value: Any) -> str:
    """A scalar of the front matter as text; a list or mapping (a placeholder) counts as nothing."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).strip() if isinstance(value, str | int | float) else ""


def _names(value: Any) -> list[str] | None:
    """`[a, b]` and `a, b` as a list; None when nothing is stated."""
    if isinstance(value, str):
        value = re.split(r"[,，、]", value)
    if not isinstance(value, list):
        return None
    return [name for item in value if (name := _text(item))]
