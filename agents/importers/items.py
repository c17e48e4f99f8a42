"""What a reader finds: an agent, something left alone, or something faulty; each with file and line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext_lazy as _

from agents.importers.language import guessed_language
from agents.rules.fields import checked_fields
from common.errors import ApplicationError, Fault
from common.text import forbidden_character
from experiences.rules import checked_content

MAX_DOCUMENT_PATH = 255
MAX_DOCUMENT_TEXT = 200_000

_LINE_BREAKS = re.compile(r"\s*[\r\n]\s*")
#: What people call the fields of an agent.
FIELD_LABELS: dict[str, Any] = {
    "name": _("name"),
    "description": _("description"),
    "system_prompt": _("role definition"),
    "language": _("language"),
    "tags": _("tags"),
    "skill_names": _("skills"),
    "enabled": _("enabled"),
    "inject_session_recaps": _("session recaps in the prompt"),
    "introspection_enabled": _("weekly introspection"),
}
_SWITCHES = ("enabled", "inject_session_recaps", "introspection_enabled")


@dataclass(frozen=True)
class Place:
    """A line of a file; `file` is relative to what the caller named, `line` counts from 1."""

    file: str
    line: int

    @property
    def source(self) -> str:
        """`file:line`."""
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class ImportedExperience:
    content: str
    enabled: bool = True


@dataclass(frozen=True)
class ImportedDocument:
    """A document with its text exactly as the file gives it."""

    path: str
    text: str


@dataclass(frozen=True)
class ImportedAgent(Place):
    """One agent within the limits. `settings` holds the switches that the file names, nothing else."""

    name: str
    description: str
    system_prompt: str
    language: str
    language_guessed: bool = True
    tags: tuple[str, ...] = ()
    skill_names: tuple[str, ...] = ()
    experiences: tuple[ImportedExperience, ...] = ()
    documents: tuple[ImportedDocument, ...] = ()
    settings: Mapping[str, bool] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class SkippedItem(Place):
    """Something that is no agent, and why."""

    reason: str


@dataclass(frozen=True)
class FailedItem(Place):
    """Something that should have been an agent but cannot be read or is over a limit; `name` where known."""

    reason: str
    name: str = ""


Item = ImportedAgent | SkippedItem | FailedItem


@dataclass
class Draft:
    """An agent as a file states it: unchecked values of any type, None where the file says nothing."""

    line: int
    name: Any = None
    description: Any = None
    system_prompt: Any = None
    language: Any = None
    tags: Any = None
    skill_names: Any = None
    experiences: Sequence[tuple[Any, Any]] = ()
    documents: Sequence[tuple[Any, Any]] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    warnings: list[tuple[int, str]] = field(default_factory=list)


def finished(draft: Draft, file: str) -> ImportedAgent | FailedItem:
    """The agent of a draft, or what is wrong with it: every fault with limit, actual size and remedy.

    Nothing is cut to fit, and nothing of a faulty agent is imported (docs/rules.md: Import of agents).
    """
    faults: list[str] = []
    name = one_line(draft.name)
    fields = _checked_agent(draft, name, faults)
    experiences = _checked_experiences(draft.experiences, faults)
    documents = _checked_documents(draft.documents, faults)
    if faults:
        return FailedItem(file, draft.line, "; ".join(faults), shown_name(name))
    guessed = guessed_language(f"{fields['name']}\n{fields['description']}\n{fields['system_prompt']}")
    return ImportedAgent(
        file,
        draft.line,
        name=fields["name"],
        description=fields["description"],
        system_prompt=fields["system_prompt"],
        language=fields.get("language", guessed),
        language_guessed="language" not in fields,
        tags=tuple(fields.get("tags", ())),
        skill_names=tuple(fields.get("skill_names", ())),
        experiences=experiences,
        documents=documents,
        settings={key: fields[key] for key in _SWITCHES if key in fields},
        warnings=tuple(f"{file}:{line}: {message}" for line, message in draft.warnings),
    )


def told_fault(fault: Fault) -> str:
    """A fault of one field, by the name people know the field by."""
    name = fault.pointer.lstrip("/")
    first, _slash, rest = name.partition("/")
    label = FIELD_LABELS.get(first)
    return f"{label}{f' {rest}' if rest else ''}: {fault.detail}" if label else f"{name}: {fault.detail}"


def one_line(value: Any) -> Any:
    """A name on one line (folded scalars end in a line break); other types unchanged."""
    return _LINE_BREAKS.sub(" ", value).strip() if isinstance(value, str) else value


def shown_name(value: Any) -> str:
    """A name of any type, fit for a report."""
    text = one_line(value)
    return text[:100] if isinstance(text, str) and not forbidden_character(text) else ""


def as_text(value: Any) -> Any:
    """A number that YAML read where a name was meant, as text; other types unchanged."""
    return str(value) if type(value) in (int, float) else value


def _checked_agent(draft: Draft, name: Any, faults: list[str]) -> dict[str, Any]:
    fields = {
        "name": "" if name is None else name,
        "description": "" if draft.description is None else draft.description,
        "system_prompt": "" if draft.system_prompt is None else draft.system_prompt,
        "language": draft.language,
        "tags": draft.tags,
        "skill_names": draft.skill_names,
        **{key: draft.settings.get(key) for key in _SWITCHES},
    }
    try:
        return checked_fields(fields)
    except ApplicationError as error:
        faults += [told_fault(fault) for fault in error.errors]
        return {}


def _checked_experiences(
    rows: Sequence[tuple[Any, Any]], faults: list[str]
) -> tuple[ImportedExperience, ...]:
    checked = []
    for number, (content, enabled) in enumerate(rows, 1):
        try:
            text = checked_content(content)
        except ApplicationError as error:
            faults.append(f"experiences/{number}: {error.message}")
            continue
        if not isinstance(enabled, bool):
            faults.append("experiences/%d: %s" % (number, _("“enabled” must be true or false.")))  # noqa: UP031
            continue
        checked.append(ImportedExperience(text, enabled))
    return tuple(checked)


def _checked_documents(
    documents: Sequence[tuple[Any, Any]], faults: list[str]
) -> tuple[ImportedDocument, ...]:
    checked = []
    for number, (path, text) in enumerate(documents, 1):
        here = [
            *_size_faults("path", path, MAX_DOCUMENT_PATH),
            *_size_faults("text", text, MAX_DOCUMENT_TEXT),
        ]
        if not here and not path:
            here = [str(_("The path must not be blank."))]
        faults += [f"documents/{number}: {fault}" for fault in here]
        if not here:
            checked.append(ImportedDocument(path, text))
    return tuple(checked)


def _size_faults(name: str, value: Any, limit: int) -> list[str]:
    """A document is kept exactly as it is, so its text is counted as it is, without trimming."""
    if not isinstance(value, str) or forbidden_character(value):
        return ["%s: %s" % (name, _("This must be a text without NUL characters."))]  # noqa: UP031
    if len(value) > limit:
        message = _("At most %(limit)d characters; this has %(actual)d: remove %(excess)d.") % {
            "limit": limit,
            "actual": len(value),
            "excess": len(value) - limit,
        }
        return [f"{name}: {message}"]
    return []
