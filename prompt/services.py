"""Load what a prompt needs from one committed version, render it, record what was delivered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from agents.rules.paths import path_key
from agents.selectors import agent_not_found, get_agent
from agents.services.editing import lock_agent
from common.actors import Actor, Channel
from common.companies.models import Company
from common.diff import unified
from common.errors import ApplicationError
from common.text import clean
from evolution.knowledge.services.injecting import Asked, log_injection
from evolution.lessons.services.recalling import log_recall
from prompt.rules.rendering import render
from prompt.rules.values import DocumentText, Notes, PromptData, PromptRequest, Rendered, Row
from prompt.sections import SECTIONS
from prompt.selectors import (
    BodyState,
    body_state,
    enabled_rows,
    injected_notes,
    lesson_notes,
    prompt_documents,
)

log = structlog.get_logger(__name__)

#: Reads without a lock before the agent is locked; each one lost means that the agent was changed meanwhile.
UNLOCKED_READS = 5
#: Nobody is named where nothing is recorded.
UNNAMED = Actor(name="", channel=Channel.API)


@dataclass(frozen=True)
class Loading:
    """For which agent, company and request a source loads."""

    agent: Agent
    company: Company
    request: PromptRequest
    now: datetime
    actor: Actor = UNNAMED


@dataclass(frozen=True)
class Source:
    """Where sections get their data: `Section.source` is a name in `SOURCES`.

    `load` only reads. `record` is called after a POST delivered a section of this source, with what was
    loaded and what was rendered; it may write logs and use counters and returns the injection id, if it made
    one. A failing source costs its optional sections, not the prompt.
    """

    load: Callable[[Loading], Any]
    record: Callable[[Loading, Any, Rendered], str | None] | None = None


def _record_injection(loading: Loading, notes: Notes, rendered: Rendered) -> str | None:
    """Log the items that are in the text."""
    request, selected = notes.origin
    delivered = rendered.delivered("knowledge", "avoid")
    told = [one for one in (*selected.items, *selected.avoid) if one.item.code in delivered]
    if not told:
        return None
    asked = Asked(loading.company, loading.agent, loading.actor, loading.now, is_prompt=True)
    row = log_injection(asked=asked, request=request, keywords=selected.keywords, delivered=told)
    return str(row.injection_id)


def _record_recall(loading: Loading, notes: Notes, rendered: Rendered) -> None:
    """Log the lessons that are in the text, and count them."""
    if not notes.avoid or rendered.delivered("avoid").isdisjoint(note.id for note in notes.avoid):
        return
    request, recalled = notes.origin
    log_recall(
        company=loading.company,
        request=request,
        recalled=recalled,
        actor=loading.actor,
        now=loading.now,
        duration_ms=0,
    )


SOURCES: dict[str, Source] = {
    "experiences": Source(lambda loading: enabled_rows(loading.agent.pk)),
    "documents": Source(
        lambda loading: prompt_documents(loading.agent, loading.company, loading.request.user_id)
    ),
    "injection": Source(
        lambda loading: injected_notes(loading.agent, loading.company, loading.request), _record_injection
    ),
    "lessons": Source(
        lambda loading: lesson_notes(loading.agent, loading.company, loading.request, loading.now),
        _record_recall,
    ),
}


@dataclass(frozen=True)
class Prompt:
    """A rendered prompt, the agent at the version it shows, and the hash of that version."""

    agent: Agent
    company: Company
    rendered: Rendered
    body_sha256: str | None
    injection_id: str | None = None


def serve_prompt(
    *,
    agent_id: int,
    company: Company,
    request: PromptRequest,
    now: datetime,
    bound_to: int | None = None,
    records_for: Actor | None = None,
) -> Prompt:
    """The prompt for a runtime; with `records_for`, who asked, the sources note what was delivered.

    Errors: AGENT_NOT_FOUND, AGENT_DISABLED.
    """
    loading, data, state = _read(agent_id, company, request, now, bound_to)
    if not loading.agent.enabled:
        raise ApplicationError("AGENT_DISABLED", _("This agent is disabled and serves no prompt."))
    rendered = _rendered(loading, data)
    injection_id = None
    if records_for is not None:
        injection_id = _record(replace(loading, actor=records_for), data, rendered)
    return Prompt(loading.agent, company, rendered, state.sha256, injection_id)


def preview_prompt(*, agent_id: int, company: Company, request: PromptRequest, now: datetime) -> Prompt:
    """The prompt as staff look at it, of a disabled agent too; nothing is recorded. Errors: AGENT_NOT_FOUND."""
    loading, data, state = _read(agent_id, company, request, now, None)
    return Prompt(loading.agent, company, _rendered(loading, data), state.sha256)


def prompt_diff(
    agent: Agent,
    company: Company,
    *,
    now: datetime,
    role: str | None = None,
    rows: Sequence[tuple[str, bool]] | None = None,
    name: str | None = None,
    language: str | None = None,
    skill_names: Sequence[str] | None = None,
    documents: Mapping[str, str | None] | None = None,
    user_id: str | None = None,
) -> str:
    """Unified diff of the rendered prompt, stored against unsaved; None stands for "unchanged".

    `rows` are (content, enabled) in their new order; `documents` new texts by path (None: gone); with
    `user_id` it is the prompt for that end user. Empty when a save would change nothing in the prompt.
    Errors: AGENT_NOT_FOUND.
    """
    request = PromptRequest(user_id=user_id)
    loading, data, _state = _read(agent.pk, company, request, now, None)
    changes: dict[str, Any] = {"role": role, "agent_name": name, "language": language}
    changes = {field: clean(value) for field, value in changes.items() if value is not None}
    loaded = dict(data.loaded)
    if rows is not None:
        loaded["experiences"] = tuple(Row(0, clean(content)) for content, is_enabled in rows if is_enabled)
    if documents is not None:
        loaded["documents"] = _with_texts(data.loaded.get("documents", ()), documents)
    changes["loaded"] = loaded
    if skill_names is not None:
        changes["skill_names"] = tuple(skill_names)
    before, after = _rendered(loading, data), _rendered(loading, replace(data, **changes))
    return unified(before.text, after.text, str(_("saved")), str(_("not saved yet")))


def _with_texts(
    stored: Sequence[DocumentText], changed: Mapping[str, str | None]
) -> tuple[DocumentText, ...]:
    """The stored documents, those at the changed paths with their new text."""
    keys = {path_key(path) for path in changed}
    kept = [document for document in stored if path_key(document.path) not in keys]
    new = [DocumentText(0, path, text) for path, text in changed.items() if text is not None]
    return (*kept, *new)


def _read(
    agent_id: int, company: Company, request: PromptRequest, now: datetime, bound_to: int | None
) -> tuple[Loading, PromptData, BodyState]:
    """Agent, rows and documents of one committed version.

    Every change of the body raises the version in its own transaction, so equal versions before and after
    mean that nothing changed between the reads. A transaction would do too, but on SQLite it is a write lock.
    """
    for _attempt in range(UNLOCKED_READS):
        loading = Loading(get_agent(company, agent_id, bound_to), company, request, now)
        data = _load(loading)
        state = body_state(agent_id)
        if state is not None and state.version == loading.agent.version:
            return loading, data, state
    with transaction.atomic():
        lock_agent(agent_id)
        loading = Loading(get_agent(company, agent_id, bound_to), company, request, now)
        state = body_state(agent_id)
        if state is None:
            raise agent_not_found()
        return loading, _load(loading), state


def _load(loading: Loading) -> PromptData:
    shown = [section for section in SECTIONS if not section.hidden_by(loading.request)]
    names = {name for section in shown for name in section.sources}
    loaded: dict[str, Any] = {}
    failed: dict[str, Exception] = {}
    for name in sorted(names):
        try:
            loaded[name] = SOURCES[name].load(loading)
        except Exception as error:
            # Whether the prompt can do without it, its sections know; a required one raises it again.
            failed[name] = error
    agent = loading.agent
    return PromptData(
        agent_id=agent.pk,
        agent_name=agent.name,
        role=agent.system_prompt,
        language=agent.language,
        company_slug=loading.company.slug,
        time_zone=settings.TIME_ZONE,
        skill_names=tuple(agent.skill_names),
        loaded=loaded,
        failed=failed,
    )


def _rendered(loading: Loading, data: PromptData) -> Rendered:
    rendered = render(data, loading.request, loading.now, SECTIONS)
    for key, error in rendered.failures:
        log.error("prompt_section_failed", section=key, agent_id=loading.agent.pk, exc_info=error)
    return rendered


def _record(loading: Loading, data: PromptData, rendered: Rendered) -> str | None:
    """Let each source that has a section in the prompt note it; a failing log costs no prompt."""
    delivered = {name for section in SECTIONS if section.key in rendered.keys for name in section.sources}
    injection_id = None
    for name in sorted(delivered):
        record = SOURCES[name].record
        if record is None or name not in data.loaded:
            continue
        try:
            with transaction.atomic():
                injection_id = record(loading, data.loaded[name], rendered) or injection_id
        except Exception as error:
            log.error("prompt_record_failed", source=name, agent_id=loading.agent.pk, exc_info=error)
    return injection_id
