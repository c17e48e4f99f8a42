"""The report of a run of capture in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from evolution.lessons.choices import Source

#: Reason of a skip -> what it means.
REASONS: dict[str, Any] = {
    "already_captured": _("captured before"),
    "below_min_severity": _("not severe enough"),
    "merge": _("merges"),
    "no_matching_form": _("neither a fix nor a revert"),
    "not_a_rollback": _("only speaks of a rollback"),
    "not_storable": _("the text cannot be stored"),
    "scope_docs_or_style": _("fixes of documentation or style"),
    "shallow_boundary": _("the oldest commits of a shallow clone"),
    "typo_or_lint": _("fixes of typing errors or style"),
    "type_build": _("type build"),
    "type_chore": _("type chore"),
    "type_ci": _("type ci"),
    "type_docs": _("type docs"),
    "type_feat": _("type feat"),
    "type_style": _("type style"),
    "type_test": _("type test"),
    "upkeep": _("fixes that tell of no mistake"),
    "unreadable": _("git could not show them"),
    "churn_below_min_severity": _("often changed files: not severe enough"),
    "churn_cap": _("often changed files: beyond the most of a run"),
    "churn_cooldown": _("often changed files: had a draft lately"),
    "churn_ignored": _("often changed files: always ignored"),
    "undated": _("without a date, not counted for often changed files"),
    "label_already_captured": _("labelled: captured before"),
    "label_below_min_severity": _("labelled: not severe enough"),
    "rule_already_captured": _("rule files: captured before"),
    "rule_below_min_severity": _("rule files: not severe enough"),
}
NOTES: dict[str, Any] = {
    "cursor_lost": _("The commit that was read last is gone; the last 30 days were read again."),
    "empty": _("The repository has no commits yet."),
    "overtaken": _("Another run read the repository at the same time; nothing was captured twice."),
    "shallow": _("The clone is shallow: its oldest commits are left out."),
}


def report_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for each thing that the report says."""
    if "error" in report:
        yield str(_("It could not be read: %s") % report["error"])
    if "scanned" not in report:
        return
    yield _summary(report)
    drafts = _counted(report.get("by_source", {}), dict(Source.choices))
    if drafts:
        yield str(_("Drafts: %s.") % drafts)
    skipped = _counted(report.get("skipped", {}), REASONS)
    if skipped:
        yield str(_("Left out: %s.") % skipped)
    taken_out = sum(report.get("redactions", {}).values())
    if taken_out:
        yield ngettext("%(count)d secret was taken out.", "%(count)d secrets were taken out.", taken_out) % {
            "count": taken_out
        }
    top = report.get("churn", {}).get("left_out_top") or []
    if top:
        files = ", ".join(f"{path} ({count})" for path, count in top)
        yield str(_("Changed often, without a draft this time: %s.") % files)
    yield from (str(NOTES[note]) for note in report.get("notes", []) if note in NOTES)


def _summary(report: Mapping[str, Any]) -> str:
    told = {name: report.get(name, 0) for name in ("scanned", "captured", "left")}
    if told["left"]:
        return str(
            _("Commits read: %(scanned)d. Drafts made: %(captured)d. For the next run: %(left)d.") % told
        )
    return str(_("Commits read: %(scanned)d. Drafts made: %(captured)d.") % told)


def _counted(counts: Mapping[str, int], labels: Mapping[str, Any]) -> str:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return "; ".join(f"{labels.get(name, name)} {count}" for name, count in ordered if count)
