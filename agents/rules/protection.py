"""What a change of a document touches, and which protection rules have a say in it.

A change is judged by comparing the protected text before and after it, never by line numbers; in doubt it
touches. docs/rules.md: protected paths.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from django.utils.translation import gettext_lazy as _

from agents.rules.markdown import has_soft_breaks
from agents.rules.paths import normalise_path, path_key, path_matches, path_resembles
from agents.rules.sections import JsonUnreadable, Section, json_section, markdown_section, names_something
from common.errors import ApplicationError


class Level(StrEnum):
    """How strongly a rule protects."""

    BLOCK = "block"
    OWNER_ONLY = "owner_only"
    CONFIRM = "confirm"


class Outcome(StrEnum):
    """What a rule says to a change."""

    ALLOWED = "allowed"
    NEEDS_CONFIRMATION = "needs_confirmation"
    NEEDS_OWNER = "needs_owner"
    BLOCKED = "blocked"


class Reason(StrEnum):
    """Why a verdict is what it is."""

    NO_RULE = "no_rule"
    UNCHANGED = "unchanged"
    OUTSIDE = "outside_section"
    FILE_CHANGED = "file_changed"
    FILE_CREATED = "file_created"
    FILE_DELETED = "file_deleted"
    SECTION_CHANGED = "section_changed"
    SECTION_CREATED = "section_created"
    SECTION_REMOVED = "section_removed"
    SECTION_REPEATED = "section_repeated"
    SECTION_MOVED = "section_moved"
    JSON_UNREADABLE = "json_unreadable"
    LOOKALIKE = "lookalike_path"


REASON_LABELS = {
    Reason.NO_RULE: _("No protection rule names this path."),
    Reason.UNCHANGED: _("Nothing changes."),
    Reason.OUTSIDE: _("The protected section stays as it is."),
    Reason.FILE_CHANGED: _("The protected file changes."),
    Reason.FILE_CREATED: _("The protected file would be created."),
    Reason.FILE_DELETED: _("The protected file would be deleted or renamed."),
    Reason.SECTION_CHANGED: _("The text or the heading of the protected section changes."),
    Reason.SECTION_CREATED: _("The protected section would be created."),
    Reason.SECTION_REMOVED: _("The protected section or its heading would be gone."),
    Reason.SECTION_REPEATED: _("The heading of the protected section would appear another number of times."),
    Reason.SECTION_MOVED: _("The protected section would stand under another heading or inside other marks."),
    Reason.JSON_UNREADABLE: _("The text is not one clear JSON object, so nothing can be compared."),
    Reason.LOOKALIKE: _("The path looks like a protected one."),
}

_OUTCOMES = {
    Level.BLOCK: Outcome.BLOCKED,
    Level.OWNER_ONLY: Outcome.NEEDS_OWNER,
    Level.CONFIRM: Outcome.NEEDS_CONFIRMATION,
}
_SEVERITY = {outcome: number for number, outcome in enumerate(Outcome)}
_HARMLESS = frozenset({Reason.UNCHANGED, Reason.OUTSIDE})


@dataclass(frozen=True)
class Rule:
    """One enabled protection rule. A blank `section` protects the whole file."""

    id: int | str
    pattern: str
    section: str = ""
    aliases: tuple[str, ...] = ()
    level: Level = Level.BLOCK


@dataclass(frozen=True)
class Change:
    """One document before and after; None means that it does not exist then."""

    path: str
    old_text: str | None
    new_text: str | None


@dataclass(frozen=True)
class Verdict:
    """What one rule says to one change; `rule` and `level` are None when no rule names the path."""

    path: str
    verdict: Outcome
    reason: Reason
    rule: Rule | None = None
    level: Level | None = None
    section: str = ""

    @property
    def is_allowed(self) -> bool:
        """Whether this rule asks for nothing."""
        return self.verdict is Outcome.ALLOWED


_NEVER_NAMES = ("must_not", "红线", "安全红线", "Never")
DEFAULT_RULES: tuple[Rule, ...] = (
    Rule("persona-core", "persona.md", "L0", (), Level.BLOCK),
    Rule("principles-never", "principles.md", "绝不做", _NEVER_NAMES, Level.BLOCK),
    Rule("agent-access", "agent.json", "access_control", (), Level.OWNER_ONLY),
    Rule("agent-privacy", "agent.json", "privacy", (), Level.OWNER_ONLY),
    Rule("tool-permissions", "tools/**/permissions.yaml", "", (), Level.OWNER_ONLY),
    Rule("tool-credentials", "tools/**/credentials.yaml", "", (), Level.BLOCK),
    Rule("user-privacy", "users/*/privacy.md", "", (), Level.OWNER_ONLY),
    Rule("user-limits", "users/*/agents/*/relationship.md", "禁区", (), Level.CONFIRM),
    Rule("role", "system_prompt", "", (), Level.OWNER_ONLY),
)


def check_change(change: Change, rules: Sequence[Rule]) -> list[Verdict]:
    """One verdict for each rule that names the path, else a single allowed one; never empty.

    `rules` are all enabled rules. None at all, or one that cannot be read, raises
    `PROTECTED_PATHS_UNAVAILABLE`: an unreadable lock is no open door. A bad path raises `PATH_INVALID`.
    """
    if not rules:
        raise _unavailable(_("No protection rule is enabled. Enable or import the protected paths first."))
    change = replace(change, path=normalise_path(change.path))
    verdicts = [verdict for rule in rules if (verdict := _verdict(change, rule))]
    return verdicts or [Verdict(change.path, Outcome.ALLOWED, Reason.NO_RULE)]


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The most restrictive verdict, the first of equals. ValueError for none: no check is no permission."""
    return max(verdicts, key=lambda verdict: _SEVERITY[verdict.verdict])


def rename_changes(
    old_path: str,
    new_path: str,
    *,
    old_text: str,
    new_text: str | None = None,
    replaced_text: str | None = None,
) -> list[Change]:
    """A rename as what it is: one document deleted, another created (or replaced, `replaced_text`).

    `new_text` is what the document holds under its new name, by default what it held under the old one.
    """
    kept = old_text if new_text is None else new_text
    return [Change(old_path, old_text, None), Change(new_path, replaced_text, kept)]


def protects_something(rule: Rule, path: str, text: str) -> bool:
    """Whether the rule finds what it protects in the document; if in none, it protects nothing yet."""
    if not path_matches(rule.pattern, path):
        return False
    if not names_something(rule.section):
        return True
    if not _is_json(path):
        return bool(markdown_section(text, rule.section, rule.aliases))
    try:
        return bool(json_section(text, rule.section, rule.aliases))
    except JsonUnreadable:
        return False


def _unavailable(message: object) -> ApplicationError:
    return ApplicationError("PROTECTED_PATHS_UNAVAILABLE", message)


def _verdict(change: Change, rule: Rule) -> Verdict | None:
    """The rule's verdict, or None when it does not name the path."""
    try:
        level = Level(rule.level)
        is_named = path_matches(rule.pattern, change.path)
        is_twin = not is_named and path_resembles(rule.pattern, change.path)
    except (ValueError, ApplicationError) as error:
        message = _("A protection rule cannot be read. Correct its pattern and level first.")
        raise ApplicationError(
            "PROTECTED_PATHS_UNAVAILABLE", message, extra={"rule": str(rule.id)}
        ) from error
    if not is_named and not is_twin:
        return None
    reason = Reason.LOOKALIKE if is_twin else _reason(change, rule)
    outcome = _OUTCOMES[level]
    if reason in _HARMLESS:
        outcome = Outcome.ALLOWED
    elif reason in (Reason.JSON_UNREADABLE, Reason.LOOKALIKE):
        outcome = Outcome.BLOCKED
    return Verdict(change.path, outcome, reason, rule, level, rule.section)


def _reason(change: Change, rule: Rule) -> Reason:
    old, new = change.old_text, change.new_text
    if old == new:
        return Reason.UNCHANGED
    if new is None:
        return Reason.FILE_DELETED
    if not names_something(rule.section):
        return Reason.FILE_CREATED if old is None else Reason.FILE_CHANGED
    if _is_json(change.path):
        return _reason_in_json(old, new, rule)
    # A program that breaks lines at other signs sees other headings; what it sees must stay as well.
    soft = has_soft_breaks(new) or has_soft_breaks(old or "")
    breaks = (False, True) if soft else (False,)
    readings = (_reason_in_markdown(old or "", new, rule, soft_breaks=soft) for soft in breaks)
    return next((reason for reason in readings if reason not in _HARMLESS), Reason.OUTSIDE)


def _is_json(path: str) -> bool:
    return path_key(path).endswith(".json")


def _reason_in_json(old: str | None, new: str, rule: Rule) -> Reason:
    try:
        before = {} if old is None else json_section(old, rule.section, rule.aliases)
        after = json_section(new, rule.section, rule.aliases)
    except JsonUnreadable:
        return Reason.JSON_UNREADABLE
    if before == after:
        return Reason.OUTSIDE
    if before.keys() == after.keys():
        return Reason.SECTION_CHANGED
    return Reason.SECTION_CREATED if before.keys() < after.keys() else Reason.SECTION_REMOVED


def _reason_in_markdown(old: str, new: str, rule: Rule, *, soft_breaks: bool) -> Reason:
    before = markdown_section(old, rule.section, rule.aliases, soft_breaks=soft_breaks)
    after = markdown_section(new, rule.section, rule.aliases, soft_breaks=soft_breaks)
    if len(before) != len(after):
        if not before:
            return Reason.SECTION_CREATED
        return Reason.SECTION_REPEATED if after else Reason.SECTION_REMOVED
    pairs = list(zip(before, after, strict=True))
    if not all(_is_same_text(one, other) for one, other in pairs):
        return Reason.SECTION_CHANGED
    return (
        Reason.OUTSIDE if all(_place(one) == _place(other) for one, other in pairs) else Reason.SECTION_MOVED
    )


def _place(section: Section) -> tuple[object, ...]:
    return section.level, section.parents, section.inside, section.certain


def _is_same_text(before: Section, after: Section) -> bool:
    """Equal to the last character; only the line ends between the last section and a heading put behind it
    (or taken away there) belong to that heading.
    """
    if before.is_last == after.is_last:
        return before.text == after.text
    shorter, longer = sorted((before.text, after.text), key=len)
    return longer.startswith(shorter) and not longer[len(shorter) :].strip("\r\n")
