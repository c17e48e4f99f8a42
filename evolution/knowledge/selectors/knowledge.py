"""Read knowledge as the API and other rooms see it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from common.companies.models import Company
from common.errors import ApplicationError, Fault, invalid
from evolution.knowledge.choices import Category, Status
from evolution.knowledge.models import Knowledge
from evolution.knowledge.models.knowledge import KnowledgeQuerySet
from evolution.knowledge.rules.values import knowledge_number


def knowledge_not_found() -> ApplicationError:
    """The one answer for an item that is not there for the caller."""
    return ApplicationError("NOT_FOUND", _("No such item of knowledge."))


def knowledge_of(
    company: Company, agent_id: int | None = None, *, with_held: bool = False
) -> KnowledgeQuerySet:
    """The company's items with all that an answer shows; for a key bound to an agent those that concern it.

    Those in quarantine are not there, except for staff (`with_held`).
    """
    items = Knowledge.objects.of_company(company).for_agent(agent_id)
    items = items if with_held else items.filter(quarantined_at=None)
    return items.select_related("company", "agent", "source", "anti_of", "anti_knowledge").prefetch_related(
        "related"
    )


def get_knowledge(
    company: Company, code: str, agent_id: int | None = None, *, with_held: bool = False
) -> Knowledge:
    """The item of this code; NOT_FOUND for unknown, foreign and (but for `with_held`) quarantined ones alike."""
    items = knowledge_of(company, agent_id, with_held=with_held)
    item = items.filter(number=knowledge_number(code) or 0).first()
    if item is None:
        raise knowledge_not_found()
    return item


def same_finding(company_id: int, agent_id: int | None, category: str, key: str) -> Knowledge | None:
    """The item that says the same for this agent, its own before the company's, or None.

    docs/rules.md: same knowledge. Archived ones and those in quarantine count for nothing.
    """
    items = Knowledge.objects.filter(
        company_id=company_id, category=category, title_key=key, quarantined_at=None
    ).exclude(status=Status.ARCHIVED)
    for owner in dict.fromkeys([agent_id, None]):
        found = items.filter(Q(agent_id=owner)).order_by("pk").first()
        if found is not None:
            return found
    return None


def named_items(company: Company, numbers: Sequence[int], pointer: str) -> list[Knowledge]:
    """The company's items that a field names. Errors: NOT_FOUND at `pointer`, with the codes there are none of."""
    found = {item.number: item for item in Knowledge.objects.of_company(company).filter(number__in=numbers)}
    missing = [number for number in numbers if number not in found]
    if missing:
        codes = ", ".join(Knowledge(number=number).code for number in missing)
        message = _("There is no knowledge %(codes)s.") % {"codes": codes}
        raise ApplicationError("NOT_FOUND", message, errors=(Fault(pointer, "NOT_FOUND", message),))
    return [found[number] for number in numbers]


def filtered(items: KnowledgeQuerySet, filters: dict[str, Any]) -> KnowledgeQuerySet:
    """The items that meet both status and category, where given. Errors: VALIDATION_ERROR for unknown words."""
    for name, known in {"status": Status.values, "category": Category.values}.items():
        value = filters.get(name)
        if value is None:
            continue
        if value not in known:
            told = {"name": name, "known": ", ".join(known)}
            raise invalid(f"/{name}", _("“%(name)s” is one of: %(known)s.") % told)
        items = items.filter(**{name: value})
    return items
