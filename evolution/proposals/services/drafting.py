"""Make a proposal out of what was learnt, once per learning point."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from agents.rules.paths import user_of
from common.actors import Actor
from common.companies.models import Company
from common.counters.services import lock_numbers, next_number
from common.errors import ApplicationError, Fault, invalid
from common.redaction import PERSONAL, redact
from common.text import clean, is_blank, length
from evolution.proposals.choices import ItemStatus, ItemType, Kind, Operation, Status, Trigger
from evolution.proposals.models import PREFIX, Proposal, ProposalItem
from evolution.proposals.operations import SET_PARAMETER, operation_for
from evolution.proposals.rules.risk import highest
from evolution.proposals.services.chains import check_apart
from evolution.proposals.services.checks import Context, logged_checks
from evolution.proposals.services.citing import cited_codes, cited_lines
from evolution.proposals.services.computing import WRITING, Bases, compute
from evolution.proposals.services.history import look_back
from evolution.proposals.services.receipts import write_proposal_receipt

EXPIRES_AFTER = timedelta(days=30)
REJECTED_FOR = timedelta(days=90)
MAX_ITEMS = 50
MAX_CONTENT = 2000
MAX_TITLE = 200


@dataclass(frozen=True)
class ItemDraft:
    """One wanted change. `new_text` None = put `content` where it belongs; `reverts` is a change of a parameter."""

    type: str
    content: str
    target: str
    operation: str
    new_text: str | None = None
    new_target: str = ""
    reverts: int | None = None


@dataclass(frozen=True)
class Draft:
    """A wanted proposal. `needs_content`: it stays a draft until somebody says what exactly.

    `redactions` counts what was taken out of it before, by kind.
    """

    kind: str
    trigger: str
    items: Sequence[ItemDraft]
    title: str = ""
    rationale: str = ""
    user_id: str = ""
    conversation_id: str = ""
    needs_content: bool = False
    cited_lessons: Sequence[str] = ()
    redactions: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Drafted:
    """The outcome: the new proposal, or None when everything was known; `known` are those that say it already."""

    proposal: Proposal | None
    known: list[Proposal] = field(default_factory=list)


def draft_proposal(
    *, company: Company, agent: Agent | None, draft: Draft, actor: Actor, now: datetime
) -> Drafted:
    """Store a proposal for `agent` in `company`; it waits for a person at once unless something is open.

    Without an agent it may set parameters of the company, and nothing else.

    Text from a key or a job is redacted first. A learning point that is pending, applied, or was rejected in
    the last 90 days makes no new item; the pending one's `seen_count` rises.
    Errors: VALIDATION_ERROR with pointers, NOT_FOUND for rows and documents that an item needs,
    PARAMETER_OUT_OF_RANGE.
    """
    draft = _checked(draft if actor.is_person else _redacted(draft), agent)
    with logged_checks() as checks:
        # Drafts of one company come one after the other, so that two equal ones at once are seen as such.
        number = lock_numbers(company_id=company.pk, prefix=PREFIX)
        draft = replace(draft, cited_lessons=cited_codes(company, draft.cited_lessons))
        cited = cited_lines(company, draft.cited_lessons)
        context = Context(agent, company, actor, f"{PREFIX}{number:03d}", now, checks, cited)
        items, known = _computed(draft, context)
        _count_again(known)
        if not items:
            checks.clear()
            return Drafted(None, known)
        check_apart(items)
        number = next_number(company_id=company.pk, prefix=PREFIX)
        proposal = _stored(draft, items, context, number)
        blocked = {item.number for item in items if item.status == ItemStatus.BLOCKED}
        if blocked:
            write_proposal_receipt(proposal, actor=actor, now=now, trigger="items_blocked", only=blocked)
        look_back(proposal, items, actor=actor, now=now)
        return Drafted(proposal, known)


def _computed(draft: Draft, context: Context) -> tuple[list[ProposalItem], list[Proposal]]:
    """The items that are new, worked out one on the other, and the proposals that say the rest already."""
    items: list[ProposalItem] = []
    known: dict[int, Proposal] = {}
    bases: Bases = {}
    for index, wanted in enumerate(draft.items):
        item = ProposalItem(
            number=len(items) + 1,
            type=wanted.type,
            content=wanted.content,
            target=wanted.target,
            new_target=wanted.new_target,
            operation=wanted.operation,
            reverts_id=wanted.reverts,
        )
        tried, entries = dict(bases), len(context.checks)
        try:
            compute(item, context, tried, wanted.new_text)
        except ApplicationError as error:
            raise _at_item(error, index) from error
        if item.status != ItemStatus.BLOCKED and any(one.learning_key == item.learning_key for one in items):
            continue
        earlier = None if item.status == ItemStatus.BLOCKED else earlier_item(item, context)
        if earlier is not None:
            known[earlier.proposal_id] = earlier.proposal
            del context.checks[entries:]
            continue
        if item.faults and not operation_for(item.operation, item.target).keeps_faulty:
            detail = item.faults[0]["detail"]
            raise invalid(f"/items/{index}", detail, code="VALIDATION_ERROR")
        bases = tried
        items.append(item)
    return items, list(known.values())


def earlier_item(item: ProposalItem, context: Context) -> ProposalItem | None:
    """An item of the same company and agent that already says this, and is still to be respected."""
    waiting = Q(
        proposal__status__in=[Status.DRAFT, Status.PENDING, Status.APPROVED],
        status__in=[ItemStatus.PENDING, ItemStatus.APPROVED],
    )
    applied = Q(status=ItemStatus.APPLIED)
    about = Q(proposal__agent=context.agent)
    if item.operation == SET_PARAMETER:
        # A value that was applied once and is gone may be wanted again; parameters belong to no agent.
        about = Q()
        if item.new_text != item.base_text:
            applied = Q(pk__in=())
    rejected = Q(status=ItemStatus.REJECTED, changed_at__gte=context.now - REJECTED_FOR)
    return (
        ProposalItem.objects.filter(
            waiting | applied | rejected,
            about,
            learning_key=item.learning_key,
            proposal__company=context.company,
        )
        .select_related("proposal", "proposal__company")
        .order_by("-proposal_id")
        .first()
    )


def _count_again(proposals: Iterable[Proposal]) -> None:
    pks = [proposal.pk for proposal in proposals if proposal.status in (Status.DRAFT, Status.PENDING)]
    Proposal.objects.filter(pk__in=pks).update(seen_count=F("seen_count") + 1)


def _stored(draft: Draft, items: list[ProposalItem], context: Context, number: int) -> Proposal:
    status = Status.PENDING
    if draft.needs_content:
        status = Status.DRAFT
    elif all(item.status == ItemStatus.BLOCKED for item in items):
        status = Status.BLOCKED
    waiting = status == Status.PENDING
    proposal = Proposal.objects.create(
        company=context.company,
        agent=context.agent,
        number=number,
        title=draft.title or _title(draft),
        kind=draft.kind if context.agent else Kind.PARAMETER,
        trigger=draft.trigger,
        conversation_id=draft.conversation_id,
        user_id=draft.user_id,
        rationale=draft.rationale,
        risk=highest(item.risk for item in items),
        status=status,
        needs_content=draft.needs_content,
        redactions=dict(draft.redactions),
        created_by=context.actor.name[:200],
        created_by_user_id=context.actor.user_id,
        created_by_key_id=context.actor.key_id,
        cited_lessons=list(draft.cited_lessons),
        pending_at=context.now if waiting else None,
        expires_at=context.now + EXPIRES_AFTER if waiting else None,
    )
    for item in items:
        item.proposal = proposal
    ProposalItem.objects.bulk_create(items)
    return proposal


def _title(draft: Draft) -> str:
    first = next((item.content for item in draft.items if item.content), "")
    target = draft.items[0].target if draft.items else ""
    line = first.splitlines()[0] if first else str(_("Change of %(target)s")) % {"target": target}
    return line[:MAX_TITLE].strip() or str(_("Proposal"))


def _redacted(draft: Draft) -> Draft:
    """The draft with secrets and personal data taken out of everything that a runtime wrote, and their counts."""
    counts = Counter(draft.redactions)

    def cleaned(text: str) -> str:
        found = redact(text)
        counts.update(found.counts)
        return found.text

    items = [
        replace(
            item,
            content=cleaned(item.content),
            new_text=None if item.new_text is None else cleaned(item.new_text),
            target=cleaned_path(item.target, counts),
            new_target=cleaned_path(item.new_target, counts),
        )
        for item in draft.items
    ]
    return replace(
        draft,
        items=items,
        title=cleaned(draft.title),
        rationale=cleaned(draft.rationale),
        conversation_id=cleaned(draft.conversation_id),
        cited_lessons=[cleaned(code) for code in draft.cited_lessons],
        redactions=dict(counts),
    )


def cleaned_path(path: str, counts: Counter[str]) -> str:
    """A path without secrets; the id of an end user stays, be it an address, a phone number or a long number."""
    user = user_of(path)
    if user and set(redact(user).counts) <= PERSONAL:
        folder, _slash, rest = path.partition("/")
        return f"{folder}/{user}{_without_secrets(rest[len(user) :], counts)}"
    return _without_secrets(path, counts)


def _without_secrets(path: str, counts: Counter[str]) -> str:
    found = redact(path)
    if set(found.counts) <= {"email"}:
        return path
    counts.update(found.counts)
    return found.text


def _checked(draft: Draft, agent: Agent | None) -> Draft:
    """The draft with clean texts. Errors: VALIDATION_ERROR naming each fault."""
    faults = []
    if agent is None and any(item.operation != Operation.SET_PARAMETER for item in draft.items):
        faults.append(Fault("/agent", "VALIDATION_ERROR", _("Name the agent whose change this is.")))
    for name, known in (("kind", Kind.values), ("trigger", Trigger.values)):
        if getattr(draft, name) not in known:
            faults.append(_unknown(f"/{name}", known))
    if not 1 <= len(draft.items) <= MAX_ITEMS:
        detail = _("A proposal has 1 to %(limit)d items; this has %(actual)d.")
        values = {"limit": MAX_ITEMS, "actual": len(draft.items)}
        faults.append(Fault("/items", "VALIDATION_ERROR", detail % values))
    if length(draft.title) > MAX_TITLE:
        faults.append(_long("/title", MAX_TITLE, length(draft.title)))
    for index, item in enumerate(draft.items):
        faults += _item_faults(item, f"/items/{index}", draft.needs_content)
    if faults:
        raise ApplicationError("VALIDATION_ERROR", faults[0].detail, errors=faults)
    items = [
        replace(item, content="" if is_blank(item.content) else clean(item.content)) for item in draft.items
    ]
    title = "" if is_blank(draft.title) else " ".join(draft.title.split())
    return replace(draft, items=items, title=title, rationale=clean(draft.rationale))


def _item_faults(item: ItemDraft, at: str, may_be_blank: bool) -> list[Fault]:
    faults = []
    if item.type not in ItemType.values:
        faults.append(_unknown(f"{at}/type", ItemType.values))
    if item.operation not in Operation.values:
        faults.append(_unknown(f"{at}/operation", Operation.values))
    if item.operation == Operation.SET_PARAMETER and item.type != ItemType.PARAMETER:
        detail = _("A parameter is set by an item of the type “parameter”.")
        faults.append(Fault(f"{at}/operation", "VALIDATION_ERROR", detail))
    if length(item.content) > MAX_CONTENT:
        faults.append(_long(f"{at}/content", MAX_CONTENT, length(item.content)))
    says_nothing = is_blank(item.content) and item.new_text is None
    if says_nothing and not may_be_blank and item.operation in WRITING:
        faults.append(Fault(f"{at}/content", "VALIDATION_ERROR", _("Say what is to be written.")))
    return faults


def _unknown(pointer: str, known: Sequence[str]) -> Fault:
    detail = _("Unknown value; there are: %(known)s.") % {"known": ", ".join(known)}
    return Fault(pointer, "VALIDATION_ERROR", detail)


def _long(pointer: str, limit: int, actual: int) -> Fault:
    detail = _("At most %(limit)d characters; this has %(actual)d: remove %(excess)d.")
    values: dict[str, Any] = {"limit": limit, "actual": actual, "excess": actual - limit}
    return Fault(pointer, "VALIDATION_ERROR", detail % values)


def _at_item(error: ApplicationError, index: int) -> ApplicationError:
    """The error with pointers below its item."""
    faults = [replace(fault, pointer=f"/items/{index}{fault.pointer}") for fault in error.errors]
    if not faults:
        return invalid(f"/items/{index}", error.message, code=error.code)
    return ApplicationError(error.code, error.message, errors=faults, extra=error.extra)
