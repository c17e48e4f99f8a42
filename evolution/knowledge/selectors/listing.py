"""Knowledge as staff list it: by words, with drafts of little confidence folded away, by last use."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import Case, F, Q, When
from django.db.models.functions import Coalesce, Greatest

from evolution.knowledge.choices import Status
from evolution.knowledge.models import Knowledge
from evolution.knowledge.models.knowledge import KnowledgeQuerySet
from evolution.knowledge.rules.values import knowledge_number
from evolution.parameters.selectors import values_by_company

#: Words that a search looks for, the texts in which it does, and the longest query.
MAX_WORDS = 10
MAX_QUERY = 500
SEARCHED = ("title", "summary", "details")
#: What a list does not need.
LONG = ("details", "code_example", "references", "redactions")
#: The last time that somebody made, verified or used an item.
_ACTIVITIES = ("created_at", "verified_at", "referenced_at", "applied_at")
LAST_ACTIVITY = Greatest("created_at", *(Coalesce(name, "created_at") for name in _ACTIVITIES[1:]))


def last_activity(item: Knowledge) -> datetime:
    """As `LAST_ACTIVITY`, of one item."""
    return max(moment for name in _ACTIVITIES if (moment := getattr(item, name)) is not None)


def low_drafts() -> Q:
    """Drafts below the harvest threshold of their company. One query."""
    default, own = values_by_company("harvest_threshold")
    below = ~Q(company__in=list(own)) & Q(confidence__lt=default)
    for company_id, value in own.items():
        below |= Q(company=company_id, confidence__lt=value)
    return Q(status=Status.DRAFT) & below


def drafts_waiting(user: Any, company_slug: str = "") -> int:
    """How many drafts wait for this person, without those folded away and those in quarantine."""
    return _drafts(user, company_slug).exclude(low_drafts()).count()


def drafts_folded(user: Any, company_slug: str = "") -> int:
    """How many of this person's drafts are folded away."""
    return _drafts(user, company_slug).filter(low_drafts()).count()


def _drafts(user: Any, company_slug: str) -> KnowledgeQuerySet:
    items = Knowledge.objects.seen_by(user).drafts().filter(quarantined_at=None)
    return items.filter(company__slug=company_slug) if company_slug else items


def with_words(items: KnowledgeQuerySet, query: str) -> KnowledgeQuerySet:
    """Items in whose texts all words occur (the code counts too). Case does not matter."""
    for word in query.split()[:MAX_WORDS]:
        said = Q()
        # SQLite folds only ASCII by itself.
        for spelling in dict.fromkeys((word, word.lower(), word.upper(), word.title())):
            for name in SEARCHED:
                said |= Q(**{f"{name}__icontains": spelling})
        if number := knowledge_number(word.lower()):
            said |= Q(number=number)
        items = items.filter(said)
    return items


def with_scores(items: KnowledgeQuerySet) -> KnowledgeQuerySet:
    """Each with `score_thousandths`: its causal score, None with too few outcomes. One query."""
    default, own = values_by_company("causal_min_samples")
    known = ~Q(company__in=list(own)) & Q(causal__samples__gte=default)
    for company_id, value in own.items():
        known |= Q(company=company_id, causal__samples__gte=value)
    return items.annotate(score_thousandths=Case(When(known, then=F("causal__thousandths"))))


def score_of(item: Any) -> Decimal | None:
    """The score of an item of `with_scores`."""
    return None if item.score_thousandths is None else Decimal(item.score_thousandths).scaleb(-3)
