"""Search what a commit adds for known patterns and for structures that repeat."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from agents.models import Agent
from common.actors import Actor
from common.companies.models import Company
from common.errors import ApplicationError, Fault
from common.receipts.choices import ReceiptType
from common.receipts.rules import Line
from common.receipts.services import write_receipt
from common.redaction import redact
from common.text import clean, forbidden_character, is_blank
from evolution.parameters.selectors import parameters_of
from evolution.patterns.choices import PatternStatus
from evolution.patterns.models import MAX_COMMIT, MAX_FILE, MAX_REPOSITORY, Pattern, PatternSighting
from evolution.patterns.rules.diffs import AddedFile, Additions, read_diff
from evolution.patterns.rules.matching import (
    DEFAULT_CONFIDENCE,
    REGEX_CONFIDENCE,
    Sought,
    find_hits,
    status_after,
)
from evolution.patterns.rules.structures import Structure, find_structures
from evolution.patterns.rules.values import MAX_TEMPLATE
from evolution.patterns.services.storing import MAX_PATTERNS, create_pattern, free_name, lock_patterns

_COMMIT_RE = re.compile(r"[0-9A-Za-z]{1,64}")
#: Characters of a difference that are read; what a call may send is less.
MAX_DIFF = 4_000_000


@dataclass(frozen=True)
class Commit:
    """What is searched: the difference of one commit of one repository."""

    repository: str
    commit: str
    diff: str


@dataclass
class Scanned:
    """What a scan found: new sightings, drafts of new patterns, patterns whose state changed, files not searched."""

    files: int = 0
    files_left_out: int = 0
    sightings: list[PatternSighting] = field(default_factory=list)
    drafted: list[Pattern] = field(default_factory=list)
    promoted: list[Pattern] = field(default_factory=list)
    redactions: Counter[str] = field(default_factory=Counter)

    @property
    def changed(self) -> bool:
        return bool(self.sightings or self.drafted)


@dataclass(frozen=True)
class _Run:
    company: Company
    agent: Agent | None
    commit: Commit
    author: Actor
    now: datetime


def checked_commit(fields: Mapping[str, Any]) -> Commit:
    """`repository`, `commit` and `diff` as they are searched. Errors: VALIDATION_ERROR naming every fault."""
    faults: list[Fault] = []
    repository = _line(fields.get("repository"), "repository", MAX_REPOSITORY, faults)
    commit = _line(fields.get("commit"), "commit", MAX_COMMIT, faults)
    if commit and not _COMMIT_RE.fullmatch(commit):
        faults.append(_fault("commit", _("This must be the name of a commit: 1 to 64 letters and digits.")))
    diff = fields.get("diff")
    if not isinstance(diff, str) or is_blank(diff):
        faults.append(_fault("diff", _("This must be a unified diff.")))
    elif forbidden_character(diff):
        faults.append(_fault("diff", _("The text contains a character that cannot be stored.")))
    elif "\n+++ " not in f"\n{diff}":
        faults.append(
            _fault("diff", _("This must be a unified diff; no line of it names a file (“+++ b/…”)."))
        )
    if faults:
        raise ApplicationError("VALIDATION_ERROR", faults[0].detail, errors=tuple(faults))
    return Commit(redact(repository).text[:MAX_REPOSITORY], commit, str(diff))


@transaction.atomic
def scan(
    *,
    company: Company,
    commit: Commit,
    actor: Actor,
    now: datetime,
    agent: Agent | None = None,
    author: Actor | None = None,
) -> Scanned:
    """Note where known patterns occur in what a commit adds, and draft patterns of structures that repeat in it.

    The same commit again adds nothing. `author` is who reported it, when that is not who acts. A drafted pattern
    stays pending until it is seen again, or a person promotes it. One receipt, when anything is new.
    """
    additions = read_diff(commit.diff[:MAX_DIFF], parameters_of(company.pk).max_scan_files)
    lock_patterns(company)
    run = _Run(company, agent, commit, author or actor, now)
    report = Scanned(len(additions.files), additions.left_out)
    known = list(Pattern.objects.of_company(company))
    _note_hits(run, report, additions.files, known)
    _draft_structures(run, report, additions, known)
    if report.changed:
        _write_receipt(run, report, actor)
    return report


def _note_hits(run: _Run, report: Scanned, files: Sequence[AddedFile], known: Sequence[Pattern]) -> None:
    agent_id = run.agent.pk if run.agent else None
    looked_for = {
        pattern.pk: pattern
        for pattern in known
        if pattern.status != PatternStatus.DEPRECATED
        and pattern.quarantined_at is None
        and (agent_id is None or pattern.agent_id in (None, agent_id))
    }
    sought = [
        Sought(pattern.pk, pattern.keywords, pattern.regex, pattern.fingerprint)
        for pattern in looked_for.values()
    ]
    hits = find_hits(files, sought)
    seen_before = set(
        PatternSighting.objects.filter(pattern__in=[hit.id for hit in hits])
        .values_list("pattern_id", flat=True)
        .distinct()
    )
    for hit in hits:
        if hit.by_regex and hit.id not in seen_before:
            _start_higher(looked_for[hit.id])
    report.sightings += _store(run, report, [(hit.id, hit.path) for hit in hits])
    _settle(report, looked_for)


def _start_higher(pattern: Pattern) -> None:
    """A pattern that an expression finds first starts at 0.8, unless somebody set its confidence."""
    if pattern.confidence == DEFAULT_CONFIDENCE:
        pattern.confidence = REGEX_CONFIDENCE


def _settle(report: Scanned, patterns: Mapping[int, Pattern]) -> None:
    for pk in sorted({sighting.pattern_id for sighting in report.sightings}):
        pattern = patterns[pk]
        before = pattern.status
        pattern.status = status_after(before, pattern.occurrences, pattern.confidence)
        pattern.version += 1
        pattern.save(update_fields=["confidence", "status", "version", "updated_at"])
        if pattern.status != before:
            report.promoted.append(pattern)


def _draft_structures(run: _Run, report: Scanned, additions: Additions, known: Sequence[Pattern]) -> None:
    prints = frozenset(pattern.fingerprint for pattern in known if pattern.fingerprint)
    structures = find_structures(additions.files, prints)
    for structure in structures[: max(MAX_PATTERNS - len(known), 0)]:
        pattern = create_pattern(
            company=run.company,
            values=_values_of(run, structure),
            actor=run.author,
            now=run.now,
            agent=run.agent,
            fingerprint=structure.fingerprint,
            receipt=False,
        )
        report.drafted.append(pattern)
        report.sightings += _store(run, report, [(pattern.pk, place.path) for place in structure.places])


def _values_of(run: _Run, structure: Structure) -> dict[str, Any]:
    name = _("Repeated structure %(mark)s") % {"mark": structure.fingerprint[:8]}
    paths = list(dict.fromkeys(place.path for place in structure.places))
    told = {"count": len(structure.places), "files": ", ".join(paths[:5])[:1000]}
    return {
        "name": free_name(run.company, name),
        "description": _("Written %(count)d times in one commit: %(files)s") % told,
        "template": "\n".join(structure.places[0].lines)[:MAX_TEMPLATE],
    }


def _store(run: _Run, report: Scanned, found: Sequence[tuple[int, str]]) -> list[PatternSighting]:
    """The sightings among these (pattern, path) that were not there yet, stored."""
    wanted: dict[tuple[int, str], None] = {}
    for pk, path in found:
        shown = redact(path)
        # A folder may be named like an e-mail address.
        kept = path if set(shown.counts) <= {"email"} else shown.text
        report.redactions.update({} if kept == path else shown.counts)
        wanted[pk, kept[:MAX_FILE] or "?"] = None
    place = {"repository": run.commit.repository, "commit": run.commit.commit}
    there = set(
        PatternSighting.objects.filter(pattern__in={pk for pk, _path in wanted}, **place).values_list(
            "pattern_id", "file"
        )
    )
    return PatternSighting.objects.bulk_create(
        PatternSighting(
            pattern_id=pk,
            file=path,
            at=run.now,
            created_by=run.author.name[:200],
            created_by_key_id=run.author.key_id,
            **place,
        )
        for pk, path in wanted
        if (pk, path) not in there
    )


def _write_receipt(run: _Run, report: Scanned, actor: Actor) -> None:
    lines = [Line(type="pattern", target=pattern.code, content=pattern.name) for pattern in report.drafted]
    write_receipt(
        company=run.company,
        actor=actor,
        type=ReceiptType.CAPTURE,
        trigger="patterns_scanned",
        at=run.now,
        agent_id=run.agent.pk if run.agent else None,
        agent_name=run.agent.name if run.agent else "",
        lines=lines,
        detail={
            "commit": run.commit.commit,
            "files": report.files,
            "files_left_out": report.files_left_out,
            "sightings": len(report.sightings),
            "drafted": len(report.drafted),
            "promoted": [pattern.code for pattern in report.promoted],
            "redactions": dict(report.redactions),
        },
    )


def _line(value: Any, name: str, limit: int, faults: list[Fault]) -> str:
    text = clean(value) if isinstance(value, str) else ""
    line = "" if is_blank(text) else " ".join(text.split())
    if not line or len(line) > limit or forbidden_character(line):
        detail = _("This must be a text of 1 to %(limit)d characters.") % {"limit": limit}
        faults.append(_fault(name, detail))
        return ""
    return line


def _fault(name: str, detail: Any) -> Fault:
    return Fault(f"/{name}", "VALIDATION_ERROR", detail)
