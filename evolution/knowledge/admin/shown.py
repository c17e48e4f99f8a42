"""An item as its page shows it: what a person confirmed, where it comes from, what it belongs to, what it brought."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from agents.admin.links import address
from common.admin import visible
from evolution.knowledge.admin.timeline import MOST, Timeline, timeline
from evolution.knowledge.admin.words import item_link, number
from evolution.knowledge.choices import Result, Status
from evolution.knowledge.models import ConfidenceEvent, Knowledge
from evolution.knowledge.selectors.causal import causals
from evolution.knowledge.selectors.shown import shown_sha256
from evolution.parameters.selectors import parameters_of

#: Outcomes that the page lists, the latest.
SHOWN_OUTCOMES = 20
#: What of a report says what happened.
_REPORT = {
    "error_type": _("kind of error"),
    "root_cause": _("cause"),
    "solution": _("solution"),
    "description": _("description"),
}


def shown_item(request: HttpRequest, item: Knowledge) -> dict[str, Any]:
    """The context of the page beyond its form."""
    parameters = parameters_of(item.company_id)
    causal = causals(item.company_id, [item.pk]).get(item.pk)
    score = causal.known(parameters.causal_min_samples) if causal else None
    sees_outcomes = request.user.has_perm("knowledge.view_outcome")
    return {
        "confirmed": confirmation(item),
        "facts": list(_facts(item, number(score), parameters.causal_min_samples)),
        "report": _report(request, item),
        "relations": list(_relations(item)),
        "timeline": _timeline(request, item, parameters.deprecation_threshold),
        "outcomes": _outcomes(item) if sees_outcomes else None,
        "outcome_counts": _counts(item) if sees_outcomes else "",
        "is_quarantined": item.quarantined_at is not None,
    }


def confirmation(item: Knowledge) -> tuple[str, Any]:
    """(good, warning or none; a sentence): whether a person stands for the text that the item has now."""
    if not item.confirmed_sha256:
        return "none", _("Nobody has confirmed this text yet. No agent is given it.")
    told = {"who": item.confirmed_by, "when": _when(item.confirmed_at)}
    if item.confirmed_sha256 != shown_sha256(item):
        return "warning", _("The text is not the one that %(who)s confirmed on %(when)s.") % told
    return "good", _("%(who)s confirmed exactly this text on %(when)s.") % told


def _facts(item: Knowledge, score: str, min_samples: int) -> Iterator[tuple[Any, Any]]:
    yield _("agent"), visible(item.agent.name) if item.agent else _("for all agents")
    yield _("source"), item.get_source_type_display()
    yield _("reported by"), visible(item.created_by)
    yield _("confidence"), number(item.confidence)
    yield (
        _("causal score"),
        score if score != "–" else _("unknown: it needs %(count)d outcomes") % {"count": min_samples},
    )
    yield _("place in the order"), item.order + 1
    for name in ("created_at", "verified_at", "referenced_at", "applied_at", "last_decay_at"):
        if moment := getattr(item, name):
            yield Knowledge._meta.get_field(name).verbose_name, _when(moment)
    if item.status == Status.DEPRECATED:
        yield _("deprecated"), _when(item.deprecated_at)
        yield (
            _("deprecated by"),
            visible(item.deprecated_by) if item.deprecated_by else _("its low confidence"),
        )
    if item.status == Status.ARCHIVED:
        yield _("archived"), _when(item.archived_at)
    taken_out = sum(item.redactions.values())
    if taken_out:
        yield _("secrets taken out"), taken_out


def _report(request: HttpRequest, item: Knowledge) -> dict[str, Any] | None:
    """The report that the item was made of."""
    report = item.source
    if report is None or not request.user.has_perm("knowledge.view_learningitem"):
        return None
    said = [
        (label, visible(str(report.metadata[name])))
        for name, label in _REPORT.items()
        if report.metadata.get(name)
    ]
    return {
        "url": address("admin:knowledge_learningitem_change", report.pk),
        "code": report.code,
        "kind": report.get_source_type_display(),
        "said": said,
    }


def _relations(item: Knowledge) -> Iterator[tuple[Any, list[SafeString | str]]]:
    """(heading, links): the warning first."""
    warning = getattr(item, "anti_knowledge", None)
    if warning is not None:
        yield _("A warning about this item"), [_titled(warning)]
    if item.anti_of is not None:
        yield _("It warns about"), [_titled(item.anti_of)]
    related = [_titled(other) for other in item.related.all()]
    if related:
        yield _("Related knowledge"), related


def _titled(item: Knowledge) -> SafeString:
    status = item.get_status_display()
    return format_html("{} {} ({})", item_link(item.pk, item.code), visible(item.title), status)


def _timeline(request: HttpRequest, item: Knowledge, threshold: Any) -> Timeline | None:
    if not request.user.has_perm("knowledge.view_confidenceevent"):
        return None
    newest = list(ConfidenceEvent.objects.of_item(item.pk).order_by("-id")[: MOST + 1])
    left_out = len(newest) > MOST
    return timeline(newest[:MOST][::-1], threshold, timezone.now(), left_out=left_out)


def _outcomes(item: Knowledge) -> list[tuple[Any, ...]]:
    """(address, when, result, its word, task, minutes, bugs, notes, by), the latest first."""
    return [
        (
            reverse("admin:knowledge_outcome_change", args=[row.pk]),
            row.at,
            row.result,
            row.get_result_display(),
            visible(row.task),
            "–" if row.time_saved_minutes is None else row.time_saved_minutes,
            row.bugs_introduced,
            visible(row.notes),
            visible(row.created_by),
        )
        for row in item.outcomes.order_by("-at", "-id")[:SHOWN_OUTCOMES]
    ]


def _counts(item: Knowledge) -> str:
    """How many outcomes there are of each kind."""
    counts = Counter(item.outcomes.values_list("result", flat=True))
    return " · ".join(f"{label} {counts[word]}" for word, label in Result.choices if counts[word])


def _when(moment: Any) -> str:
    return date_format(localtime(moment), "SHORT_DATETIME_FORMAT") if moment else "–"
