"""What goes into a prompt and what comes out of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.utils.translation import gettext_lazy as _

from common.text import estimated_tokens, is_blank


class Precision(StrEnum):
    """How exactly the prompt tells the time; a day keeps the text, and so its ETag, stable."""

    DAY = "day"
    MINUTE = "minute"


class Reason(StrEnum):
    """Why a section is not in the text."""

    NO_CONTENT = "no_content"
    OVERRIDE = "override"
    NO_TASK = "no_task"
    FAILED = "failed"


REASON_LABELS = {
    Reason.NO_CONTENT: _("There is nothing to show."),
    Reason.OVERRIDE: _("The request replaces the role definition."),
    Reason.NO_TASK: _("The request names neither a task nor a phase."),
    Reason.FAILED: _("It could not be built; the log says why."),
}
FAILED_WARNING = _("The section “%(section)s” could not be built and was left out.")


@dataclass(frozen=True)
class PromptRequest:
    """What a caller asks for; texts are trimmed and have LF line ends, absent ones are empty."""

    user_id: str | None = None
    task: str = ""
    phase: str = ""
    keywords: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    main_task_summary: str = ""
    system_prompt_override: str = ""
    tools_guidance: str = ""
    task_management: str = ""
    delegation: str = ""
    time_precision: Precision = Precision.DAY

    @property
    def has_task(self) -> bool:
        """Whether there is anything to recall knowledge for."""
        return not (is_blank(self.task) and is_blank(self.phase))

    @property
    def overrides_role(self) -> bool:
        return not is_blank(self.system_prompt_override)


@dataclass(frozen=True)
class Row:
    """An enabled experience."""

    id: int
    content: str


@dataclass(frozen=True)
class DocumentText:
    """The current text of a document at its normalised path."""

    id: int
    path: str
    text: str


@dataclass(frozen=True)
class Note:
    """Something learnt, by its code."""

    id: str
    text: str


@dataclass(frozen=True)
class Notes:
    """What was learnt that helps with a task, and what is to be avoided; `origin` is what the record is made of."""

    use: tuple[Note, ...] = ()
    avoid: tuple[Note, ...] = ()
    origin: Any = None


@dataclass(frozen=True)
class PromptData:
    """An agent as one company sees it, at one version.

    `loaded` holds what the sources of `prompt.services.SOURCES` gave, by their name; `failed` why a source
    gave nothing.
    """

    agent_id: int
    agent_name: str
    role: str
    language: str
    company_slug: str
    time_zone: str
    skill_names: tuple[str, ...] = ()
    loaded: Mapping[str, Any] = field(default_factory=dict)
    failed: Mapping[str, Exception] = field(default_factory=dict)


@dataclass(frozen=True)
class Given:
    """All that a builder may look at; `now` is aware."""

    data: PromptData
    request: PromptRequest
    now: datetime

    def loaded(self, source: str) -> Any:
        """What a source gave; raises the error that its loading ended with."""
        if source in self.data.failed:
            raise self.data.failed[source]
        return self.data.loaded[source]

    def in_language(self, zh: str, en: str) -> str:
        """The wording for the agent's language."""
        return en if self.data.language == "en" else zh


@dataclass(frozen=True)
class Built:
    """A section's text without its heading, and the rows it came from. `heading` replaces the usual one."""

    text: str = ""
    item_ids: tuple[Any, ...] = ()
    shortened: bool = False
    heading: str | None = None


@dataclass(frozen=True)
class Section:
    """One entry of `prompt.sections.SECTIONS`.

    `source` names what must be loaded for it, `also` what besides; `optional` lets the prompt do without it,
    `needs_task` shows it only to a request with a task or phase, `dropped_by_override` hides it under
    `system_prompt_override`.
    """

    key: str
    zh: str
    en: str
    build: Callable[[Given], Built]
    source: str = ""
    also: tuple[str, ...] = ()
    optional: bool = False
    needs_task: bool = False
    dropped_by_override: bool = False

    @property
    def sources(self) -> frozenset[str]:
        return frozenset((self.source, *self.also)) - {""}

    def hidden_by(self, request: PromptRequest) -> Reason | None:
        """Why this request does not get the section at all, or None."""
        if self.dropped_by_override and request.overrides_role:
            return Reason.OVERRIDE
        if self.needs_task and not request.has_task:
            return Reason.NO_TASK
        return None


@dataclass(frozen=True)
class RenderedSection:
    """A section as delivered; `heading` is empty for the role, `text` comes without the heading."""

    key: str
    heading: str
    text: str
    item_ids: tuple[Any, ...] = ()
    shortened: bool = False

    @property
    def chars(self) -> int:
        return len(self.text)

    @property
    def estimated_tokens(self) -> int:
        return estimated_tokens(self.text)

    @property
    def whole(self) -> str:
        return f"{self.heading}\n\n{self.text}" if self.heading else self.text


@dataclass(frozen=True)
class Rendered:
    """The prompt: `text` ends in one newline; `failures` are the errors behind `warnings`."""

    text: str
    sections: tuple[RenderedSection, ...]
    warnings: tuple[str, ...] = ()
    left_out: tuple[tuple[str, Reason], ...] = ()
    failures: tuple[tuple[str, Exception], ...] = ()

    @property
    def keys(self) -> frozenset[str]:
        """The keys of the delivered sections."""
        return frozenset(section.key for section in self.sections)

    def delivered(self, *keys: str) -> frozenset[Any]:
        """The ids of what these sections show."""
        return frozenset(pk for section in self.sections if section.key in keys for pk in section.item_ids)
