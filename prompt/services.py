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
from common.companies.models import Company
from common.diff import unified
from common.errors import ApplicationError
from common.text import clean
from prompt.rules.rendering import render
from prompt.rules.values import DocumentText, PromptData, PromptRequest, Rendered, Row
from prompt.sections import SECTIONS
from prompt.selectors import BodyState, body_state, enabled_rows, prompt_documents

log = structlog.get_logger(__name__)

#: Reads without a lock before the agent is locked; each one lost means that the agent was changed meanwhile.
UNLOCKED_READS = 5


@dataclass(frozen=True)
class Loading:
    """For which agent, company and request a source loads."""

    agent: Agent
    company: Company
    request: PromptRequest
    now: datetime


@dataclass(frozen=True)
class Source:
    """Where sections get their data: `Section.source` is a name in `SOURCES`.

    `load` only reads. `record` is called after a POST delivered a section of this source, with what was
    loaded and what was rendered; it may write logs and use counters and returns the injection id, if it made
    one. A failing source costs its optional sections, not the prompt.
    """

    load: Callable[[Loading], Any]
    record: Callable[[Loading, Any, Rendered], str | None] | None = None


SOURCES: dict[str, Source] = {
    "experiences": Source(lambda loading: enabled_rows(loading.agent.pk)),
    "documents": Source(
        lambda loading: prompt_documents(loading.agent, loading.company, loading.request.user_id)
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
    records: bool = False,
) -> Prompt:
    """The prompt for a runtime; with `records` the sources note what was delivered.

    Errors: AGENT_NOT_FOUND, AGENT_DISABLED.
    """
    loading, data, state = _read(agent_id, company, request, now, bound_to)
    if not loading.agent.enabled:
        raise ApplicationError("AGENT_DISABLED", _("This agent is disabled and serves no prompt."))
    rendered = _rendered(loading, data)
    injection_id = _record(loading, data, rendered) if records else None
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
    names = {section.source for section in SECTIONS if not section.hidden_by(loading.request)} - {""}
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
    delivered = {section.source for section in SECTIONS if section.key in rendered.keys} - {""}
    injection_id = None
    for name in sorted(delivered):
        record = SOURCES[name].record
        if record is None:
            continue
        try:
            with transaction.atomic():
                injection_id = record(loading, data.loaded[name], rendered) or injection_id
        except Exception as error:
            log.error("prompt_record_failed", source=name, agent_id=loading.agent.pk, exc_info=error)
    return injection_id
