"""Paths of documents: one spelling for each file, patterns over them, and what a path stands for.

What is checked is what is written: every door turns the path it was given into its normal form first, and
only the normal form is compared, shown and stored. docs/rules.md: document paths.
"""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum
from functools import lru_cache

from django.utils.translation import gettext_lazy as _

from agents.rules.glyphs import mixes_alphabets, skeleton, without_invisible
from common.errors import ApplicationError, Fault
from common.text import nfkc

MAX_PATH_LENGTH = 255
# Far above any honest spelling of 255 code points; one code point can become 18 of them in NFKC.
_MAX_SPELLING_LENGTH = 4096
ROOT_PREFIX = "${ROOT}/"

_PERCENT_RE = re.compile(r"%(?:[0-9a-f]{2}|u[0-9a-f]{4})", re.IGNORECASE)
# The 8.3 name under which some file systems offer a longer one (`PERSON~1.MD`); always ASCII.
_SHORT_NAME_RE = re.compile(r"[!-\-/-~]{1,7}~[0-9]+(?:\.[!-\-/-~]{0,3})?")
# NFKC turns most signs that look like `/`, `\` or `.` into these; the following it leaves alone.
_SEPARATOR_TWINS = frozenset("⁄∕⧵⧸⧹╱╲⟋⟍∖⁁᜵〳Ⳇ㇓㇔𝈺𝈏𝈻")
_DOT_TWINS = frozenset("。۔܁܂ꓸ꘎𐩐𝅭")
# They are drawn as nothing, but are neither spaces nor format characters.
_BLANK_GLYPHS = frozenset("\u2800\ufffc")
_FORBIDDEN_CATEGORIES = frozenset({"Cc", "Cs", "Co", "Cn", "Zl", "Zp"})


class PathFault(StrEnum):
    """Why a path is refused; `extra["reason"]` of the error."""

    EMPTY = "empty"
    TOO_LONG = "too_long"
    CONTROL = "control_character"
    PERCENT = "percent_encoding"
    COLON = "colon"
    ABSOLUTE = "absolute"
    OUTSIDE = "outside_root"
    DOTS_ONLY = "dots_only"
    SEPARATOR_TWIN = "looks_like_separator"
    DOT_TWIN = "looks_like_dot"
    EXPANSION = "expansion"
    SHORT_NAME = "short_name"
    REPOSITORY = "repository"
    MIXED_ALPHABETS = "mixed_alphabets"
    TWIN = "looks_like_known_name"


_MESSAGES = {
    PathFault.EMPTY: _("The path is empty. Name a file, for example memory/notes.md."),
    PathFault.TOO_LONG: _("The path is longer than 255 characters. Shorten it."),
    PathFault.CONTROL: _("The path holds a control, line-break or unassigned character. Remove it."),
    PathFault.PERCENT: _("The path is percent-encoded. Send the characters themselves."),
    PathFault.COLON: _("The path holds a colon, which names a drive or a stream. Use a hyphen instead."),
    PathFault.ABSOLUTE: _("The path is absolute. Start it at the agent's root, without a slash."),
    PathFault.OUTSIDE: _("The path leads out of the agent's root. Remove the `..` parts."),
    PathFault.DOTS_ONLY: _("A part of the path holds only dots and spaces. Give it a name."),
    PathFault.SEPARATOR_TWIN: _("The path holds a sign that looks like a slash. Use `/` between parts."),
    PathFault.DOT_TWIN: _("The path holds a sign that looks like a full stop. Use `.` itself."),
    PathFault.EXPANSION: _("A part of the path starts with `~` or `$`; nothing is expanded here. Rename it."),
    PathFault.SHORT_NAME: _("A part of the path is a short name such as PERSON~1.MD. Write the full name."),
    PathFault.REPOSITORY: _("The name .git is kept for the repository. Choose another one."),
    PathFault.MIXED_ALPHABETS: _("A word of the path mixes letters of several alphabets. Retype it in one."),
    PathFault.TWIN: _("A part of the path looks like a known name, but is spelled otherwise. Retype it."),
}


class DocumentKind(StrEnum):
    """What a document is for, by its path."""

    PERSONA = "persona"
    PRINCIPLES = "principles"
    AGENT_JSON = "agent_json"
    SKILL = "skill"
    MEMORY = "memory"
    WORKFLOW = "workflow"
    GUIDANCE = "guidance"
    TOOL = "tool"
    USER_PROFILE = "user_profile"
    USER_PRIVACY = "user_privacy"
    USER_MEMORY = "user_memory"
    USER_RELATIONSHIP = "user_relationship"
    OTHER = "other"


KNOWN_PATHS: tuple[tuple[str, DocumentKind], ...] = (
    ("persona.md", DocumentKind.PERSONA),
    ("principles.md", DocumentKind.PRINCIPLES),
    ("agent.json", DocumentKind.AGENT_JSON),
    ("skills/*/SKILL.md", DocumentKind.SKILL),
    ("memory/*.md", DocumentKind.MEMORY),
    ("workflows/*.md", DocumentKind.WORKFLOW),
    ("guidance/tools.md", DocumentKind.GUIDANCE),
    ("guidance/tasks.md", DocumentKind.GUIDANCE),
    ("guidance/delegation.md", DocumentKind.GUIDANCE),
    ("tools/*/**", DocumentKind.TOOL),
    ("users/*/profile.md", DocumentKind.USER_PROFILE),
    ("users/*/privacy.md", DocumentKind.USER_PRIVACY),
    ("users/*/agents/*/memory/*.md", DocumentKind.USER_MEMORY),
    ("users/*/agents/*/relationship.md", DocumentKind.USER_RELATIONSHIP),
)
_FURTHER_NAMES = ("permissions.yaml", "credentials.yaml", "system_prompt", "parameters", "experiences")


def normalise_path(raw: str) -> str:
    """The one spelling of a document's path, with the case as typed; 1-255 code points. Idempotent.

    Raises `PATH_INVALID` (pointer /path, `reason` a `PathFault`). docs/rules.md: document paths.
    """
    text = _readable(raw, "/path")
    if ":" in text:
        raise _refused(PathFault.COLON, "/path")
    parts = _resolved(text)
    for part in parts:
        if fault := _fault_of_part(part):
            raise _refused(fault, "/path")
    return _of_good_length("/".join(parts), "/path")


def path_key(path: str) -> str:
    """The key by which normalised paths are compared and unique: NFKC, casefold. Idempotent."""
    previous, key = None, path
    while key != previous:  # folding can undo the composition and the other way round
        previous, key = key, nfkc(nfkc(key).casefold())
    return key


def normalise_pattern(raw: str) -> str:
    """The clean form of a rule's pattern: `${ROOT}/` taken off, `tools/` meaning `tools/**`.

    Raises `PATH_INVALID` (pointer /pattern) for a pattern that could match nothing, or more than it shows.
    """
    text = _readable(raw, "/pattern").removeprefix(ROOT_PREFIX)
    if re.match("/(?!/)", text):
        raise _refused(PathFault.ABSOLUTE, "/pattern")
    if text.endswith("/") and text.strip("/"):
        text += "**"
    parts = [part for part in text.split("/") if part not in ("", ".")]
    if any(not part.strip(". ") for part in parts):
        raise _refused(PathFault.DOTS_ONLY, "/pattern")
    return _of_good_length("/".join(part.strip(" ").rstrip(". ") for part in parts), "/pattern")


def path_matches(pattern: str, path: str) -> bool:
    """Whether the normalised path is one of the pattern's: `*` in one part, `**` any depth (none, too).

    Case and width do not count. Time is bounded by pattern times path. Raises like `normalise_pattern`.
    """
    return _parts_match(_pattern_key(pattern), path_key(path))


def path_resembles(pattern: str, path: str) -> bool:
    """Whether the path can be mistaken for one of the pattern's, which it may or may not be."""
    return _parts_match(skeleton(normalise_pattern(pattern)), skeleton(path))


def document_kind(path: str) -> DocumentKind:
    """The kind of the document at a normalised path; `OTHER` for all that is not a known path."""
    return next((kind for pattern, kind in KNOWN_PATHS if path_matches(pattern, path)), DocumentKind.OTHER)


def is_user_path(path: str) -> bool:
    """Whether the normalised path lies under `users/<id>`: such documents belong to the caller's company."""
    return user_of(path) is not None


def user_of(path: str) -> str | None:
    """The `<id>` of `users/<id>/**` as typed, or None for a path of the agent's own body."""
    first, _slash, rest = path.partition("/")
    return rest.partition("/")[0] if rest and path_key(first) == "users" else None


@lru_cache(maxsize=1024)
def _pattern_key(pattern: str) -> str:
    return path_key(normalise_pattern(pattern))


def _refused(fault: PathFault, pointer: str) -> ApplicationError:
    message = _MESSAGES[fault]
    faults = (Fault(pointer, "PATH_INVALID", message),)
    return ApplicationError("PATH_INVALID", message, errors=faults, extra={"reason": str(fault)})


def _of_good_length(path: str, pointer: str) -> str:
    if not path:
        raise _refused(PathFault.EMPTY, pointer)
    if len(path) > MAX_PATH_LENGTH:
        raise _refused(PathFault.TOO_LONG, pointer)
    return path


def _readable(raw: str, pointer: str) -> str:
    """The text in NFKC, nothing invisible, plain spaces and forward slashes; refused when it is ambiguous."""
    if len(raw) > _MAX_SPELLING_LENGTH:
        raise _refused(PathFault.TOO_LONG, pointer)
    previous, text = None, raw
    while text != previous:  # what is taken out can have kept two characters apart that compose
        previous, text = text, nfkc(without_invisible(text))
    text = "".join(" " if unicodedata.category(char) == "Zs" else char for char in text)
    signs = set(text)
    faults = (
        (PathFault.CONTROL, any(unicodedata.category(char) in _FORBIDDEN_CATEGORIES for char in signs)),
        (PathFault.CONTROL, not signs.isdisjoint(_BLANK_GLYPHS)),
        (PathFault.PERCENT, _PERCENT_RE.search(text) is not None),
        (PathFault.SEPARATOR_TWIN, not signs.isdisjoint(_SEPARATOR_TWINS)),
        (PathFault.DOT_TWIN, not signs.isdisjoint(_DOT_TWINS)),
    )
    for fault, found in faults:
        if found:
            raise _refused(fault, pointer)
    return text.replace("\\", "/")


def _resolved(text: str) -> list[str]:
    """The parts of the path without `.`, `..` and empty ones; `//x` is `x`, `/x` is absolute."""
    if re.match("/(?!/)", text):
        raise _refused(PathFault.ABSOLUTE, "/path")
    parts: list[str] = []
    for part in text.split("/"):
        if part in ("", "."):
            continue
        if part == "..":
            if not parts:
                raise _refused(PathFault.OUTSIDE, "/path")
            parts.pop()
        elif not part.strip(". "):
            # `...` and `.. ` are parents on some systems and names on others.
            raise _refused(PathFault.DOTS_ONLY, "/path")
        else:
            parts.append(part.strip(" ").rstrip(". "))
    return parts


def _fault_of_part(part: str) -> PathFault | None:
    key = path_key(part)
    if key.startswith(("~", "$")):
        return PathFault.EXPANSION
    if _SHORT_NAME_RE.fullmatch(key):
        return PathFault.SHORT_NAME
    if key == ".git":
        return PathFault.REPOSITORY
    if mixes_alphabets(part):
        return PathFault.MIXED_ALPHABETS
    known = _KNOWN_SKELETONS.get(_path_skeleton(part))
    return PathFault.TWIN if known is not None and known != key else None


# Within a path `l`, `I`, `1` and `|` are one, and so are `O` and `0`.
_PATH_FOLD = str.maketrans({"i": "l", "1": "l", "|": "l", "0": "o"})


def _path_skeleton(path: str) -> str:
    plain = skeleton(path).translate(_PATH_FOLD).replace("rn", "m").replace("vv", "w").replace(" ", "")
    return re.sub(r"\.{2,}", ".", plain)


def _known_names() -> set[str]:
    parts = {part for pattern, _kind in KNOWN_PATHS for part in pattern.split("/")}
    return {path_key(name) for name in (*parts, *_FURTHER_NAMES) if "*" not in name}


_KNOWN_SKELETONS = {_path_skeleton(name): name for name in _known_names()}


def _parts_match(pattern: str, path: str) -> bool:
    parts = path.split("/")
    reached = {0}  # how many parts of the path the pattern may have used so far
    for wanted in pattern.split("/"):
        if wanted == "**":
            reached = set(range(min(reached), len(parts) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(parts) and _part_matches(wanted, parts[at])}
        if not reached:
            return False
    return len(parts) in reached


def _part_matches(wanted: str, part: str) -> bool:
    first, *middle = wanted.split("*")
    if not middle:
        return part == first
    last = middle.pop()
    at, end = len(first), len(part) - len(last)
    if end < at or not part.startswith(first) or not part.endswith(last):
        return False
    for piece in middle:  # the leftmost place of each piece leaves most room for the rest
        found = part.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True
