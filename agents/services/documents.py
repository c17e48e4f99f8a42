"""Write documents: each save that changes the text adds a version; protection is checked and logged."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from agents.choices import Source
from agents.models import Agent, Document, DocumentVersion
from agents.rules.documents import checked_text, sha256
from agents.rules.paths import document_kind, is_user_path, normalise_path, path_key
from agents.rules.protection import Change
from agents.selectors import current_text, find_document, snapshot
from agents.services.editing import Edit, keep_version, lock_agent
from agents.services.protection import check_and_log, log_refusal, protected_path_error
from common.companies.models import Company
from common.errors import ApplicationError
from common.receipts.choices import ReceiptType
from common.receipts.rules import Line
from common.receipts.services import write_receipt


@dataclass(frozen=True)
class Written:
    """The document after a write, and whether a version was added."""

    document: Document
    changed: bool


def put_document(
    *,
    agent: Agent,
    company: Company,
    path: str,
    text: str,
    edit: Edit,
    request: str,
    note: str = "",
    by_hand: bool = False,
) -> Written:
    """Make `text` the current text of `path`; equal text adds nothing.

    `edit.expected` are the document versions that were read (0 = it must not exist yet). `by_hand` is staff in
    the admin, who may touch protected parts. Every verdict is logged, refusals too.
    Errors: PATH_INVALID, VALIDATION_ERROR, VERSION_MISMATCH, COMPANY_FORBIDDEN, AGENT_NOT_FOUND,
    PROTECTED_PATH, PROTECTED_PATHS_UNAVAILABLE.
    """
    about: dict[str, Any] = {
        "agent": agent,
        "company": company,
        "actor": edit.actor,
        "request": request,
        "now": edit.now,
    }
    with _refusals_logged(path, about):
        path = normalise_path(path)
    checked_text(path_key(path), text)
    owner = _owning_company(agent, company, path)
    with _refusals_logged(path, about), transaction.atomic():
        locked = lock_agent(agent.pk)
        document = find_document(locked, owner, path)
        check_document_version(document, edit.expected)
        change = Change(path=path, old_text=current_text(document), new_text=text)
        verdicts = check_and_log(**{**about, "agent": locked}, changes=[change], by_hand=by_hand)
        refused = not by_hand and not all(verdict.is_allowed for verdict in verdicts)
        written = None if refused else _write(locked, owner, document, path, text, edit, note)
    if written is None:
        raise protected_path_error(verdicts)
    return written


@contextmanager
def _refusals_logged(path: str, about: dict[str, Any]) -> Iterator[None]:
    """Log what is refused before a rule has spoken: a path that cannot be, or no rule to ask."""
    try:
        yield
    except ApplicationError as error:
        if error.code in ("PATH_INVALID", "PROTECTED_PATHS_UNAVAILABLE"):
            log_refusal(path=path, reason=str(error.message), **about)
        raise


def restore_document_version(
    *, document: Document, number: int, edit: Edit, request: str, by_hand: bool = False
) -> Written:
    """Make an old version's text current again, as a new version. Errors: NOT_FOUND and those of `put_document`."""
    version = DocumentVersion.objects.filter(document=document, number=number).first()
    if version is None:
        raise ApplicationError("NOT_FOUND", _("The document has no version %(number)d.") % {"number": number})
    return put_document(
        agent=document.agent,
        company=document.company,
        path=document.path,
        text=version.text,
        edit=replace(edit, source=Source.RESTORE, trigger="document_restored"),
        request=request,
        note=str(_("Restored version %(number)d") % {"number": number}),
        by_hand=by_hand,
    )


def create_first_documents(*, agent: Agent, documents: Sequence[tuple[str, str]], edit: Edit) -> None:
    """The documents of an agent that has no version yet (import, copy): nothing is protected before it exists.

    Errors: PATH_INVALID, VALIDATION_ERROR.
    """
    for raw_path, text in documents:
        path = normalise_path(raw_path)
        checked_text(path_key(path), text)
        document = _new_document(agent, agent.company, path)
        _add_version(document, text, edit, "")


def _owning_company(agent: Agent, company: Company, path: str) -> Company:
    """Whose document it is: the caller's for `users/**`, else the agent's, which only it may write."""
    if is_user_path(path):
        return company
    if agent.company_id != company.pk:
        raise ApplicationError(
            "COMPANY_FORBIDDEN", _("This agent is shared by _global and can be changed only there.")
        )
    return company


def check_document_version(document: Document | None, expected: Collection[int] | None) -> None:
    """VERSION_MISMATCH unless the document has one of the expected versions (0 when it does not exist)."""
    current = document.current_version if document and document.deleted_at is None else 0
    if expected is None or current in expected:
        return
    raise ApplicationError(
        "VERSION_MISMATCH",
        _("The document is at version %(current)d; read it and try again.") % {"current": current},
        extra={"current_version": current},
    )


def write_text(
    *,
    agent: Agent,
    company: Company,
    path: str,
    text: str,
    edit: Edit,
    note: str = "",
    proposal_code: str = "",
) -> DocumentVersion:
    """Make `text` the current text of a normalised path, as a new version.

    For callers that hold the agent's lock, have checked the protection and keep the agent's version
    themselves. Errors: COMPANY_FORBIDDEN, VALIDATION_ERROR.
    """
    checked_text(path_key(path), text)
    owner = _owning_company(agent, company, path)
    document = find_document(agent, owner, path) or _new_document(agent, owner, path)
    return _add_version(document, text, edit, note, proposal_code)


def remove_document(
    *, agent: Agent, company: Company, path: str, edit: Edit, note: str = "", proposal_code: str = ""
) -> DocumentVersion:
    """Delete a document: an empty last version says who and why; writing the path again continues its history.

    For the same callers as `write_text`. Errors: NOT_FOUND.
    """
    document = find_document(agent, _owning_company(agent, company, path), path)
    if document is None or document.deleted_at is not None:
        raise ApplicationError("NOT_FOUND", _("No such document of this agent."))
    version = _add_version(document, "", edit, note, proposal_code)
    Document.objects.filter(pk=document.pk).update(deleted_at=edit.now)
    return version


def _write(
    agent: Agent,
    company: Company,
    document: Document | None,
    path: str,
    text: str,
    edit: Edit,
    note: str,
) -> Written:
    if document is not None and current_text(document) == text:
        return Written(document, changed=False)
    is_body = not is_user_path(path)
    before = snapshot(agent) if is_body else None
    document = document or _new_document(agent, company, path)
    version = _add_version(document, text, edit, note)
    if is_body:
        keep_version(agent, before, edit)
    else:
        _user_document_receipt(agent, company, document, version, edit)
    return Written(document, changed=True)


def _new_document(agent: Agent, company: Company, path: str) -> Document:
    return Document.objects.create(
        agent=agent,
        company=company,
        path=path,
        path_key=path_key(path),
        kind=document_kind(path).value,
        is_body=not is_user_path(path),
    )


def _add_version(
    document: Document, text: str, edit: Edit, note: str, proposal_code: str = ""
) -> DocumentVersion:
    document.current_version += 1
    document.deleted_at = None
    document.save(update_fields=["current_version", "deleted_at", "updated_at"])
    return DocumentVersion.objects.create(
        document=document,
        number=document.current_version,
        text=text,
        sha256=sha256(text),
        source=edit.source,
        author=edit.actor.name[:200],
        proposal_code=proposal_code,
        note=note or edit.message,
        created_at=edit.now,
    )


def _user_document_receipt(
    agent: Agent, company: Company, document: Document, version: DocumentVersion, edit: Edit
) -> None:
    """A `users/**` document is the company's own: its receipt stands in that company's chain."""
    line = Line(
        type="document",
        target=document.path,
        document_version=version.number,
        new_sha256=version.sha256,
    )
    write_receipt(
        company=company,
        actor=edit.actor,
        type=ReceiptType.CHANGE,
        trigger="document_changed",
        at=edit.now,
        agent_id=agent.pk,
        agent_name=agent.name,
        lines=[line],
    )
