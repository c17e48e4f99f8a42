"""Which histories may be read: add and change repositories, and the folders below which they may lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from common.actors import Actor
from common.companies.models import Company
from common.errors import ApplicationError, Fault, invalid
from common.file_reading import display_path
from common.receipts.rules import Line, text_hash
from common.receipts.services import write_receipt
from common.strict_json import canonical
from common.text import clean, forbidden_character, is_blank, length
from evolution.lessons.choices import Severity
from evolution.lessons.gitlog import GitRepository
from evolution.lessons.models import Repository
from evolution.lessons.services.capture_report import failure_json

FIELDS = (
    "agent",
    "name",
    "path",
    "enabled",
    "churn_threshold",
    "churn_window_days",
    "churn_strict",
    "churn_ignore",
    "min_severity",
)
MAX_NAME, MAX_PATH = 100, 500
MAX_PATTERNS, MAX_PATTERN = 100, 200
_BOUNDS = {"churn_threshold": (2, 100), "churn_window_days": (1, 90)}


def repository_named(company: Company, name: str, agent_id: int | None = None) -> Repository:
    """The company's repository of this name; for a key bound to an agent one of its own or of all agents.

    Errors: NOT_FOUND for unknown and foreign ones alike.
    """
    rows = Repository.objects.filter(company=company, name=name)
    if agent_id is not None:
        rows = rows.filter(Q(agent_id=agent_id) | Q(agent=None))
    repository = rows.first()
    if repository is None:
        raise ApplicationError("NOT_FOUND", _("There is no repository of this name."))
    return repository


@transaction.atomic
def add_repository(*, company: Company, fields: Mapping[str, Any], actor: Actor, now: datetime) -> Repository:
    """Allow a history to be read. `fields`: FIELDS, agent as a row. Errors: VALIDATION_ERROR naming each fault."""
    values = checked_repository(company, fields)
    repository = Repository.objects.create(company=company, **values)
    _write_receipt(repository, "repository_added", actor, now)
    return repository


@transaction.atomic
def change_repository(
    *, repository_id: int, fields: Mapping[str, Any], actor: Actor, now: datetime
) -> Repository:
    """Change what is read and how. What was captured stays captured; another path is read from its last 30 days
    on where it does not hold the commit that was read last. Errors: VALIDATION_ERROR, NOT_FOUND.
    """
    repository = locked_repository(repository_id)
    values = checked_repository(repository.company, fields, repository)
    changed = {name: value for name, value in values.items() if getattr(repository, name) != value}
    if changed:
        for name, value in changed.items():
            setattr(repository, name, value)
        repository.save(update_fields=[*changed, "updated_at"])
        _write_receipt(repository, "repository_changed", actor, now, sorted(changed))
    return repository


def locked_repository(repository_id: int) -> Repository:
    """The row, which nobody else changes or captures into until the transaction ends. Errors: NOT_FOUND."""
    rows = Repository.objects.select_for_update(of=("self",)).select_related("company", "agent")
    repository = rows.filter(pk=repository_id).first()
    if repository is None:
        raise ApplicationError("NOT_FOUND", _("There is no repository of this name."))
    return repository


@transaction.atomic
def note_failure(*, repository_id: int, message: str) -> None:
    """Remember, for its page, why a repository could not be read. Nothing else changes."""
    repository = locked_repository(repository_id)
    report = failure_json(message, repository.last_report)
    if report != repository.last_report:
        Repository.objects.filter(pk=repository.pk).update(last_report=report)


def open_repository(repository: Repository) -> GitRepository:
    """The history on this machine, for reading.

    Errors: VALIDATION_ERROR without a path, for one that may not be read, and for what is no repository.
    """
    if not repository.path:
        message = _("%s has no folder: its commits are only sent through the API.") % repository.name
        raise invalid("/path", message)
    source = GitRepository(allowed_folder(repository.path))
    roots = allowed_roots()
    if roots is not None and not all(_is_below(folder, roots) for folder in source.folders):
        # By a link, as a worktree, or by borrowed objects.
        raise _not_allowed(repository.path)
    return source


def allowed_roots() -> list[Path] | None:
    """The folders below which histories may be read; None: anywhere. docs/operations.md: settings."""
    roots = [Path(root).resolve() for root in settings.LESSONS_REPOSITORY_ROOTS if root.strip()]
    return roots if roots or settings.PROFILE == "production" else None


def allowed_folder(path: str) -> Path:
    """The folder, links followed. Errors: VALIDATION_ERROR for one that may not be read."""
    folder = Path(path)
    if not folder.is_absolute():
        raise invalid("/path", _("This must be a whole path, from the root of the server on."))
    try:
        resolved = folder.resolve()
    except (OSError, RuntimeError, ValueError):
        raise _not_allowed(path) from None
    roots = allowed_roots()
    if roots is not None and not _is_below(resolved, roots):
        raise _not_allowed(path)
    return resolved


def checked_repository(
    company: Company, fields: Mapping[str, Any], existing: Repository | None = None
) -> dict[str, Any]:
    """The given fields as they are stored. Raises VALIDATION_ERROR naming every fault."""
    faults: list[Fault] = []
    values = {name: fields[name] for name in FIELDS if name in fields}
    if existing is None or "name" in values:
        values["name"] = _name(company, values.get("name"), existing, faults)
    if "path" in values:
        values["path"] = _path(values["path"], existing, faults)
    for name, (least, most) in _BOUNDS.items():
        value = values.get(name, least)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            told = {"least": least, "most": most}
            _fault(faults, name, _("This must be a whole number from %(least)d to %(most)d.") % told)
    if "churn_ignore" in values:
        values["churn_ignore"] = _patterns(values["churn_ignore"], faults)
    if values.get("min_severity", Severity.LOW) not in Severity.values:
        known = ", ".join(Severity.values)
        _fault(faults, "min_severity", _("Unknown value; there are: %(known)s.") % {"known": known})
    agent = values.get("agent")
    if agent is not None and not Agent.objects.live().readable_from(company).filter(pk=agent.pk).exists():
        _fault(faults, "agent", _("There is no such agent."))
    if faults:
        raise ApplicationError("VALIDATION_ERROR", faults[0].detail, errors=tuple(faults))
    return values


def _name(company: Company, value: Any, existing: Repository | None, faults: list[Fault]) -> str:
    name = _line(value, "name", MAX_NAME, faults)
    if not name and not faults:
        _fault(
            faults, "name", _("The name is blank; it needs 1 to %(limit)d characters.") % {"limit": MAX_NAME}
        )
    others = Repository.objects.filter(company=company, name=name)
    if (others.exclude(pk=existing.pk) if existing else others).exists():
        _fault(faults, "name", _("Another repository of the company has this name."))
    return name


def _path(value: Any, existing: Repository | None, faults: list[Fault]) -> str:
    path = _line(value, "path", MAX_PATH, faults)
    if path and not (existing and existing.path == path):
        try:
            allowed_folder(path)
        except ApplicationError as error:
            faults += error.errors
    return path


def _patterns(value: Any, faults: list[Fault]) -> list[str]:
    entries: Sequence[Any] = value if isinstance(value, list | tuple) else [value]
    patterns = [_line(entry, "churn_ignore", MAX_PATTERN, faults) for entry in entries]
    kept = list(dict.fromkeys(pattern for pattern in patterns if pattern))
    if len(kept) > MAX_PATTERNS:
        told = {"limit": MAX_PATTERNS, "actual": len(kept), "excess": len(kept) - MAX_PATTERNS}
        detail = _("At most %(limit)d entries; there are %(actual)d: remove %(excess)d.")
        _fault(faults, "churn_ignore", detail % told)
    return kept


def _line(value: Any, name: str, limit: int, faults: list[Fault]) -> str:
    if not isinstance(value, str) or is_blank(value):
        return ""
    if forbidden_character(value) or "\n" in clean(value):
        _fault(faults, name, _("The text contains a character that cannot be stored."))
        return ""
    actual = length(value)
    if actual > limit:
        told = {"limit": limit, "actual": actual, "excess": actual - limit}
        _fault(
            faults, name, _("At most %(limit)d characters; this has %(actual)d: remove %(excess)d.") % told
        )
    return clean(value)


def _fault(faults: list[Fault], name: str, detail: Any) -> None:
    faults.append(Fault(f"/{name}", "VALIDATION_ERROR", detail))


def _is_below(folder: Path, roots: Sequence[Path]) -> bool:
    return any(folder.is_relative_to(root) for root in roots)


def _not_allowed(path: str) -> ApplicationError:
    message = _(
        "%s may not be read. Whoever runs this server names the folders that may be, in LESSONS_REPOSITORY_ROOTS."
    )
    return invalid("/path", message % display_path(Path(path)))


def _write_receipt(
    repository: Repository, trigger: str, actor: Actor, now: datetime, changed: Sequence[str] = ()
) -> None:
    stored = {name: getattr(repository, name) for name in FIELDS if name != "agent"}
    digest = text_hash(canonical({**stored, "agent": repository.agent_id}).decode())
    target = f"repositories/{repository.pk}/{repository.name}"
    write_receipt(
        company=repository.company,
        actor=actor,
        type="change",
        trigger=trigger,
        at=now,
        agent_id=repository.agent_id,
        agent_name=repository.agent.name if repository.agent else "",
        lines=[Line(type="repository", target=target, new_sha256=digest)],
        detail={"fields": list(changed), "after_sha256": digest},
    )
