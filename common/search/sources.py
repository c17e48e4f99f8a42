"""What the index is derived from: each room registers its kind, and the index can be compared and rebuilt.

Objects are read under the lock of their generation: whoever writes one meanwhile indexes it afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from common.companies.models import Company
from common.errors import ApplicationError
from common.search.models import SearchDocument
from common.search.rules.query import Entry
from common.search.services import BATCH, compare, index_objects, locked, recount, remove_objects


@dataclass(frozen=True)
class Source:
    """Where the entries of a kind come from: `ids` of all objects of a company that belong into the index, and
    `entries` of some of them, without those that do not belong there (any more).
    """

    ids: Callable[[Company], Iterable[int]]
    entries: Callable[[Company, Sequence[int]], Iterable[Entry]]


@dataclass
class Report:
    """What differs, or differed, between the objects of one company and kind and their documents."""

    company: str
    kind: str
    documents: int = 0
    missing: int = 0
    outdated: int = 0
    superfluous: int = 0
    wrong_counts: bool = False

    @property
    def drift(self) -> int:
        """Differences; a wrong count is one."""
        return self.missing + self.outdated + self.superfluous + self.wrong_counts


_SOURCES: dict[str, Source] = {}


def register(kind: str, source: Source) -> None:
    """Tell where documents of a kind come from; called in `AppConfig.ready` of the room that owns the objects."""
    _SOURCES[kind] = source


def kinds(kind: str | None = None) -> list[str]:
    """The registered kinds, or the one named. Errors: NOT_FOUND for a kind that nobody registered."""
    if kind is not None and kind not in _SOURCES:
        known = ", ".join(sorted(_SOURCES)) or "–"
        message = _("No kind “%(kind)s” is indexed. There are: %(known)s.") % {"kind": kind, "known": known}
        raise ApplicationError("NOT_FOUND", message)
    return sorted(_SOURCES) if kind is None else [kind]


def rebuild(
    *, company: Company, kind: str, write: bool, progress: Callable[[int], Any] = lambda done: None
) -> Report:
    """Compare every object with its document and, with `write`, put right what differs.

    Objects and documents are taken in batches, each in its own transaction; `progress(n)` tells that n are done.
    """
    source, report = _SOURCES[kind], Report(company.slug, kind)
    documents = SearchDocument.objects.filter(company=company, kind=kind, removed=False)
    wanted = dict.fromkeys(source.ids(company))
    wanted |= dict.fromkeys(documents.values_list("object_id", flat=True))
    for ids in _batches(list(wanted)):
        _rebuild_batch(company, kind, source, ids, write, report)
        progress(len(ids))
    report.wrong_counts = recount(company=company, kind=kind, write=write)
    return report


@transaction.atomic
def _rebuild_batch(
    company: Company, kind: str, source: Source, ids: list[int], write: bool, report: Report
) -> None:
    head = locked(company, kind)
    entries = list(source.entries(company, ids))
    difference = compare(head, entries, ids)
    report.documents += len(entries)
    report.missing += len(difference.missing)
    report.outdated += len(difference.outdated)
    report.superfluous += len(difference.superfluous)
    if write:
        index_objects(company=company, kind=kind, entries=entries)
        remove_objects(company=company, kind=kind, object_ids=difference.superfluous)


def _batches(ids: list[int]) -> Iterator[list[int]]:
    return (ids[start : start + BATCH] for start in range(0, len(ids), BATCH))
