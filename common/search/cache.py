"""What each process keeps: the indexes of the companies it serves; the least recently used leave first.

An index is never changed, only replaced, so that threads read without locks. One is shared only when it holds
nothing but committed rows: a transaction that wrote to a kind sees its own rows in an index of its own.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from django.conf import settings
from django.db import connection, transaction
from django.db.models import QuerySet

from common.companies.models import Company
from common.search.models import SearchDocument, SearchGeneration
from common.search.rules.segments import CHUNK, Row, Segment, appended, build

#: Bytes a document that queries derive and keep (rules.scoring).
DERIVED = 96
COLUMNS = ("fields", "state", "day", "expires", "agent_id", "rank", "sequence")


@dataclass(frozen=True)
class Index:
    """All documents of one (company, kind) as of `generation`."""

    generation: int
    segments: Sequence[Segment] = ()

    @property
    def nbytes(self) -> int:
        return sum(segment.nbytes + DERIVED * segment.size for segment in self.segments)

    @cached_property
    def counted(self) -> int:
        """Documents of state 0."""
        return sum(segment.living for segment in self.segments if segment.counted)

    @cached_property
    def lengths(self) -> dict[str, int]:
        """Field -> tokens in the documents of state 0."""
        totals: Counter[str] = Counter()
        for segment in self.segments:
            if segment.counted:
                totals.update({name: int(own[segment.alive].sum()) for name, own in segment.lengths.items()})
        return dict(totals)


@dataclass
class Shelf:
    """The indexes of this process by the key of their generation row."""

    indexes: OrderedDict[int, Index] = field(default_factory=OrderedDict)
    #: Rows at which an index alone was larger than all memory allowed.
    too_large: dict[int, int] = field(default_factory=dict)
    locks: dict[int, threading.Lock] = field(default_factory=dict)
    guard: threading.Lock = field(default_factory=threading.Lock)

    def get(self, key: int) -> Index | None:
        with self.guard:
            if key in self.indexes:
                self.indexes.move_to_end(key)
            return self.indexes.get(key)

    def put(self, key: int, index: Index) -> None:
        """Keep an index; others leave until all together fit into SEARCH_MEMORY_MB."""
        with self.guard:
            self.indexes[key] = index
            self.indexes.move_to_end(key)
            used = sum(kept.nbytes for kept in self.indexes.values())
            while used > memory_limit() and len(self.indexes) > 1:
                _key, gone = self.indexes.popitem(last=False)
                used -= gone.nbytes

    def lock(self, key: int) -> threading.Lock:
        """Held by the one thread that brings an index up to date."""
        with self.guard:
            return self.locks.setdefault(key, threading.Lock())

    def clear(self) -> None:
        with self.guard:
            self.indexes.clear()
            self.too_large.clear()


SHELF = Shelf()
_HEAD = f"SELECT id, generation FROM {SearchGeneration._meta.db_table} WHERE company_id = %s AND kind = %s"  # noqa: S608
#: A connection, and so a transaction, belongs to one thread.
_LOCAL = threading.local()


def memory_limit() -> int:
    """Bytes that all indexes of a process may take."""
    return settings.SEARCH_MEMORY_MB * 2**20


def index_of(company: Company, kind: str) -> Index | SearchGeneration:
    """The index as of now; the head alone when it does not fit into memory."""
    # Once a search: the ORM would take longer to write this query than the index to answer.
    with connection.cursor() as cursor:
        cursor.execute(_HEAD, [company.pk, kind])
        key, generation = cursor.fetchone() or (None, None)
    if key is None:
        return Index(0)
    known = SHELF.get(key)
    if known is not None and known.generation == generation:
        return known
    head = SearchGeneration.objects.filter(pk=key).first()
    return (current_index(head) or head) if head else Index(0)


def current_index(head: SearchGeneration) -> Index | None:
    """The index as of the head's generation or a later one; None when it does not fit into memory."""
    known = SHELF.get(head.pk)
    if head.rows > settings.SEARCH_MAX_IN_MEMORY or head.rows >= SHELF.too_large.get(head.pk, head.rows + 1):
        return None
    if wrote_to(head.pk):
        return _brought_up_to_date(head, known)
    with SHELF.lock(head.pk):
        known = SHELF.get(head.pk)
        if known is not None and known.generation > head.generation:
            head = SearchGeneration.objects.get(pk=head.pk)
        if known is None or known.generation != head.generation:
            known = _brought_up_to_date(head, known)
            if known.nbytes > memory_limit():
                SHELF.too_large[head.pk] = head.rows
                return None
            SHELF.put(head.pk, known)
    return known


def _brought_up_to_date(head: SearchGeneration, known: Index | None) -> Index:
    """`known` with what was committed since; everything anew when removals were purged, or time went back."""
    if known is not None and head.purged <= known.generation <= head.generation:
        index = _with_changes(head, known)
        if SearchGeneration.objects.filter(pk=head.pk, purged__lte=known.generation).exists():
            return index
    rows = SearchDocument.objects.filter(company_id=head.company_id, kind=head.kind, removed=False)
    return _with_rows(Index(head.generation), rows)


def _with_changes(head: SearchGeneration, known: Index) -> Index:
    changed = SearchDocument.objects.filter(
        company_id=head.company_id, kind=head.kind, generation__gt=known.generation
    )
    return _with_rows(Index(max(head.generation, known.generation), known.segments), changed)


def _with_rows(index: Index, documents: QuerySet[SearchDocument]) -> Index:
    """One statement reads all rows, so they are one moment's. Every change has a row of its generation, so what
    that moment's generation was is the highest one seen (or the head's, when its rows were removed).
    """
    generation, new, changed = index.generation, [], []
    rows: list[Row] = []
    for object_id, removed, row_generation, *values in documents.values_list(
        "object_id", "removed", "generation", *COLUMNS
    ).iterator(chunk_size=2000):
        generation = max(generation, row_generation)
        changed.append(object_id)
        if not removed:
            rows.append(Row(object_id, *values))
        if len(rows) == CHUNK:
            new += build(rows)
            rows = []
    new += build(rows)
    gone = np.array(changed, dtype=np.int64)
    return Index(generation, appended([old.without(gone) for old in index.segments], new))


def note_write(key: int) -> None:
    """The running transaction changes the documents under this generation row."""
    written = _written()
    written.add(key)
    transaction.on_commit(lambda: written.discard(key))


def wrote_to(key: int) -> bool:
    """Whether rows of this transaction, which may yet be rolled back, are among what it sees."""
    written = _written()
    if not connection.in_atomic_block:
        # Left by a transaction that was rolled back.
        written.clear()
    return key in written


def _written() -> set[int]:
    if not hasattr(_LOCAL, "written"):
        _LOCAL.written = set()
    return _LOCAL.written
