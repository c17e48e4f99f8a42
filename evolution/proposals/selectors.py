"""Read proposals: as the API and the admin see them, the audit view, the health figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Prefetch, Q, QuerySet, Sum, Value
from django.db.models.functions import Coalesce, Left
from django.utils.translation import gettext_lazy as _

from common.companies.models import Company
from common.counters.rules import parse_code
from common.errors import ApplicationError
from common.queues import COUNTED, Queue, around
from evolution.lessons.choices import Purpose
from evolution.lessons.models import Lesson, RecallLog
from evolution.lessons.rules.kinds import lesson_number
from evolution.proposals.choices import ItemStatus, Risk, Status, learning_label
from evolution.proposals.models import PREFIX, WORK_ORDER, GitMirrorCommit, Proposal, ProposalItem

#: Texts of an item that only the answer about one proposal carries: of fifty they would be many megabytes.
HEAVY = ("base_text", "new_text", "diff")


def proposals_of(
    company: Company, agent_id: int | None = None, *, with_texts: bool = True
) -> QuerySet[Proposal]:
    """The company's proposals (of one agent, for a key bound to it), with agent and items loaded."""
    queryset = Proposal.objects.of_company(company).select_related("agent", "company")
    items = ProposalItem.objects.order_by("number")
    items = items if with_texts else items.defer(*HEAVY)
    queryset = queryset.prefetch_related(Prefetch("items", items))
    return queryset.filter(agent_id=agent_id) if agent_id is not None else queryset


def get_proposal(company: Company, code: str, agent_id: int | None = None) -> Proposal:
    """The proposal of this code; NOT_FOUND for unknown and foreign ones alike."""
    number = parse_code(PREFIX, code)
    proposal = proposals_of(company, agent_id).filter(number=number).first() if number else None
    if proposal is None:
        raise ApplicationError("NOT_FOUND", _("No such proposal."))
    return proposal


def queue_around(waiting: QuerySet[Proposal], current: Proposal | None) -> Queue[Proposal]:
    """The queue with `current` in its place (it need not be part of it), or from its start."""
    rows = waiting.select_related("agent", "company")
    return around(rows, current, order=WORK_ORDER, beside=_beside)


def _beside(proposal: Proposal, side: str) -> Q:
    """Those behind (`gt`) or in front of (`lt`) a waiting proposal. The first condition is the index's bound."""
    rank, since = proposal.risk_rank, proposal.pending_at
    same = Q(risk_rank=rank, pending_at=since) & Q(**{f"id__{side}": proposal.pk})
    later = Q(risk_rank=rank) & Q(**{f"pending_at__{side}": since})
    return Q(**{f"risk_rank__{side}e": rank}) & (Q(**{f"risk_rank__{side}": rank}) | later | same)


@dataclass(frozen=True)
class Waiting:
    """How much waits for a person: for a decision by risk, approved for an apply, broken for a repair.

    Each number stops at 1,001: what a start page costs does not depend on it.
    """

    by_risk: dict[str, int]
    approved: int
    broken: int

    @property
    def total(self) -> int:
        return sum(self.by_risk.values())


def waiting_for(user: Any, company_slug: str = "") -> Waiting:
    """What waits in the companies of which the person is a member, or in the one named; two queries."""
    mine = Proposal.objects.written_by(user)
    if company_slug:
        mine = mine.filter(company__slug=company_slug)
    ranked = mine.waiting().riskiest_first().values_list("risk", flat=True)
    risks = Counter(ranked[: COUNTED + 1])
    unfinished = mine.filter(status__in=[Status.APPROVED, Status.CONFLICT, Status.FAILED])
    states = Counter(unfinished.order_by().values_list("status", flat=True)[: COUNTED + 1])
    approved = states.pop(Status.APPROVED, 0)
    by_risk = {risk: risks[risk] for risk in reversed(Risk.values) if risks[risk]}
    return Waiting(by_risk=by_risk, approved=approved, broken=sum(states.values()))


@dataclass(frozen=True)
class Source:
    """Who proposed how many of the waiting ones."""

    created_by: str
    waiting: int
    seen: int


def sources(waiting: QuerySet[Proposal], limit: int = 50) -> list[Source]:
    """Who proposed most of what waits: a flood shows as one line."""
    counted = waiting.order_by().values("created_by").annotate(waiting=Count("pk"), seen=Sum("seen_count"))
    return [Source(**row) for row in counted.order_by("-waiting", "created_by")[:limit]]


@dataclass(frozen=True)
class Window:
    """What a report is about: a company, perhaps one agent, perhaps a time span (from inclusive, to exclusive)."""

    company: Company
    agent_id: int | None = None
    since: datetime | None = None
    until: datetime | None = None


def items_in(window: Window) -> QuerySet[ProposalItem]:
    """Items of proposals drafted in the window."""
    items = ProposalItem.objects.filter(proposal__company=window.company)
    if window.agent_id is not None:
        items = items.filter(proposal__agent_id=window.agent_id)
    if window.since is not None:
        items = items.filter(proposal__created_at__gte=window.since)
    if window.until is not None:
        items = items.filter(proposal__created_at__lt=window.until)
    return items


@dataclass(frozen=True)
class Figure:
    """One health figure: numerator / denominator, None when the denominator is 0; `healthy` None when unknown.

    `rows` filters the item list that stands behind the numerator.
    """

    key: str
    label: Any
    numerator: int
    denominator: int
    above: bool
    limit: float
    rows: dict[str, str]

    @property
    def value(self) -> float | None:
        """The share, rounded to 3 decimals."""
        return round(self.numerator / self.denominator, 3) if self.denominator else None

    @property
    def healthy(self) -> bool | None:
        """Whether the share is on the right side of its limit."""
        if self.value is None:
            return None
        if self.key == "personality_stability":
            return self.numerator == self.denominator
        return self.value > self.limit if self.above else self.value < self.limit


def health(window: Window, stability: tuple[int, int]) -> list[Figure]:
    """The four figures. docs/rules.md: health. `stability` = (agents unchanged, agents with block sections)."""
    ever_applied = Q(status__in=[ItemStatus.APPLIED, ItemStatus.ROLLED_BACK])
    counts = items_in(window).aggregate(
        drafted=Count("pk"),
        applied=Count("pk", filter=ever_applied),
        rejected=Count("pk", filter=Q(status=ItemStatus.REJECTED)),
        rolled_back=Count("pk", filter=Q(status=ItemStatus.ROLLED_BACK)),
        conflicting=Count("pk", filter=~Q(conflicts=[])),
    )
    applied, rejected = counts["applied"], counts["rejected"]
    return [
        Figure(
            "adoption_rate",
            _("Adoption rate"),
            applied,
            applied + rejected,
            True,
            0.6,
            {"state": "ever_applied"},
        ),
        Figure(
            "conflict_rate",
            _("Rule conflict rate"),
            counts["conflicting"],
            counts["drafted"],
            False,
            0.1,
            {"conflicts": "yes"},
        ),
        Figure(
            "rollback_rate",
            _("Rollback rate"),
            counts["rolled_back"],
            applied,
            False,
            0.05,
            {"state": "rolled_back"},
        ),
        Figure("personality_stability", _("Personality stability"), *stability, True, 1.0, {}),
    ]


#: States that the audit view knows.
AUDITED = (
    ItemStatus.APPLIED,
    ItemStatus.REJECTED,
    ItemStatus.SKIPPED,
    ItemStatus.BLOCKED,
    ItemStatus.ROLLED_BACK,
)


@dataclass(frozen=True)
class AuditEntry:
    """One line of the audit view; `type` and `status` in words, `state` and `item_type` as codes."""

    at: datetime
    agent: str
    code: str
    number: int
    type: Any
    item_type: str
    content: str
    status: Any
    state: str
    confirmed_by: str


def audit(window: Window, status: str | None = None) -> QuerySet[ProposalItem]:
    """Items that reached one of the states `AUDITED` (or just `status`) in the window, newest first."""
    items = ProposalItem.objects.filter(proposal__company=window.company)
    items = items.filter(status__in=[status] if status else AUDITED)
    if window.agent_id is not None:
        items = items.filter(proposal__agent_id=window.agent_id)
    if window.since is not None:
        items = items.filter(changed_at__gte=window.since)
    if window.until is not None:
        items = items.filter(changed_at__lt=window.until)
    items = items.select_related("proposal", "proposal__agent").defer(*HEAVY)
    beginning = Left(Coalesce("new_text", Value("")), 200)
    return items.annotate(beginning=beginning).order_by("-changed_at", "-pk")


def audit_entries(items: Iterable[Any]) -> Iterator[AuditEntry]:
    """The lines of the audit view, of items as `audit` loads them."""
    for item in items:
        proposal = item.proposal
        confirmed_by = item.decided_for or item.decided_by
        if item.status == ItemStatus.ROLLED_BACK:
            confirmed_by = proposal.rolled_back_by
        yield AuditEntry(
            at=item.changed_at or proposal.updated_at,
            agent=proposal.agent.name if proposal.agent else "",
            code=proposal.code,
            number=item.number,
            type=learning_label(item.type, proposal.trigger),
            item_type=item.type,
            content=" ".join((item.content or item.beginning).split())[:120],
            status=item.get_status_display(),
            state=item.status,
            confirmed_by=confirmed_by,
        )


def git_commits(receipt_id: int) -> dict[str, str]:
    """The commit of what a receipt says was applied, for its export; empty without a mirror.

    `config.settings` names this function, because the room of receipts knows no room above it.
    """
    sha = GitMirrorCommit.objects.filter(receipt_id=receipt_id).values_list("sha", flat=True).first()
    return {} if sha is None else {"git_commit": sha}


@dataclass(frozen=True)
class LessonBeside:
    """A lesson that history or the proposer names beside a proposal; `answer` is cited, dismissed or empty."""

    lesson: Lesson
    band: str
    relevance: float | None
    answer: str
    reason: str = ""

    @property
    def is_unanswered(self) -> bool:
        """A strong hit that nobody has cited or dismissed."""
        return self.band == "strong" and not self.answer


def lessons_beside(proposal: Proposal) -> list[LessonBeside]:
    """What recall found when the proposal was drafted, best first, and what else it cites; two queries."""
    log = (
        RecallLog.objects.filter(
            company=proposal.company_id, reference=proposal.code, purpose=Purpose.AGENT_UPDATE
        )
        .order_by("-created_at", "-id")
        .first()
    )
    hits = {hit["lesson"]: hit for hit in log.hits} if log else {}
    dismissed = {entry["lesson"]: entry["reason"] for entry in proposal.dismissed_lessons}
    codes = list(dict.fromkeys([*hits, *proposal.cited_lessons, *dismissed]))
    if not codes:
        return []
    numbers = [number for number in map(lesson_number, codes) if number]
    rows = Lesson.objects.filter(company=proposal.company_id, number__in=numbers)
    lessons = {lesson.code: lesson for lesson in rows}
    return [
        LessonBeside(
            lesson=lessons[code],
            band=hits.get(code, {}).get("band", ""),
            relevance=hits.get(code, {}).get("relevance"),
            answer=_answer(proposal, code, dismissed),
            reason=dismissed.get(code, ""),
        )
        for code in codes
        if code in lessons
    ]


def _answer(proposal: Proposal, code: str, dismissed: Mapping[str, str]) -> str:
    return "cited" if code in proposal.cited_lessons else "dismissed" if code in dismissed else ""


def open_strong_lessons(proposal: Proposal) -> list[str]:
    """Codes of strong hits that nobody has cited or dismissed."""
    return [beside.lesson.code for beside in lessons_beside(proposal) if beside.is_unanswered]
