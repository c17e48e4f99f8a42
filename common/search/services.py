"""Write and remove documents of the index, in the transaction of the object they belong to.

The row of the generation is locked first, so that writers of one (company, kind) come one after the other and
generations are committed in their order. Take it after the object's own row and before the receipt.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from django.db import connection, transaction

from common.companies.models import Company
from common.search.cache import COLUMNS, note_write
from common.search.models import SearchDocument, SearchGeneration
from common.search.rules.query import SEPARATOR, Attributes, Entry, joined, split

#: Documents written by one statement.
BATCH = 500
#: Removed documents are purged when they are more than this and more than the others.
KEPT_REMOVED = 1000
COUNTS = ("rows", "counted", "removed")

T = TypeVar("T")


def index_object(
    *,
    company: Company,
    kind: str,
    object_id: int,
    fields: Mapping[str, Iterable[str]],
    attributes: Attributes | None = None,
) -> bool:
    """Index one object, or index it again; whether anything was written."""
    entry = Entry(object_id, fields, attributes or Attributes())
    return index_objects(company=company, kind=kind, entries=[entry]) == 1


@transaction.atomic
def index_objects(*, company: Company, kind: str, entries: Iterable[Entry]) -> int:
    """Index objects, each given once; how many documents were written. Unchanged ones write nothing."""
    head = locked(company, kind)
    written = 0
    for batch in _batches(entries):
        before = _documents(head, [entry.object_id for entry in batch])
        changed = []
        for entry in batch:
            new, old = document_of(head, entry), before.get(entry.object_id)
            if old is None or differs(old, new):
                _count(head, old, -1)
                _count(head, new, 1)
                changed.append(new)
        SearchDocument.objects.bulk_create(
            changed,
            update_conflicts=True,
            unique_fields=["company", "kind", "object_id"],
            update_fields=[*COLUMNS, "generation", "removed"],
        )
        written += len(changed)
    _save(head, written)
    return written


def remove_object(*, company: Company, kind: str, object_id: int) -> bool:
    """Take one object out of the index; whether it was there."""
    return remove_objects(company=company, kind=kind, object_ids=[object_id]) == 1


@transaction.atomic
def remove_objects(*, company: Company, kind: str, object_ids: Iterable[int]) -> int:
    """Take objects out of the index; how many were there."""
    head = locked(company, kind)
    gone = 0
    for batch in _batches(object_ids):
        present = [old for old in _documents(head, batch).values() if not old.removed]
        for old in present:
            _count(head, old, -1)
        SearchDocument.objects.filter(pk__in=[old.pk for old in present]).update(
            removed=True, fields={}, generation=head.generation + 1
        )
        gone += len(present)
    head.removed += gone
    _save(head, gone)
    return gone


@transaction.atomic
def change_state(*, company: Company, kind: str, object_ids: Sequence[int], state: int) -> int:
    """Give documents of state 0 another state, in which they do not expire; how many had it.

    One statement for all: the texts are not read. `state` is not 0.
    """
    head = locked(company, kind)
    documents = SearchDocument.objects.filter(company=company, kind=kind, object_id__in=object_ids)
    generation = head.generation + 1
    moved = documents.filter(state=0, removed=False).update(state=state, expires=None, generation=generation)
    head.counted -= moved
    for name, tokens in _lengths_of(head, generation).items():
        head.lengths[name] = head.lengths.get(name, 0) - tokens
    _save(head, moved)
    return moved


def _lengths_of(head: SearchGeneration, generation: int) -> dict[str, int]:
    """Field -> tokens in the documents of one generation, counted by the database."""
    parts = (
        "jsonb_each_text(document.fields)"
        if connection.vendor == "postgresql"
        else "json_each(document.fields)"
    )
    query = f"""
        SELECT part.key, SUM(LENGTH(part.value) - LENGTH(REPLACE(part.value, %s, '')) + 1)
        FROM {SearchDocument._meta.db_table} document, {parts} part
        WHERE document.company_id = %s AND document.kind = %s AND document.generation = %s AND part.value <> ''
        GROUP BY part.key
    """  # noqa: S608  nothing in it comes from outside
    with connection.cursor() as cursor:
        cursor.execute(query, [SEPARATOR, head.company_id, head.kind, generation])
        return {name: int(tokens) for name, tokens in cursor.fetchall()}


@dataclass(frozen=True)
class Difference:
    """Object ids without a document, with another one than they should have, and documents without an object."""

    missing: list[int]
    outdated: list[int]
    superfluous: list[int]


def compare(head: SearchGeneration, entries: Iterable[Entry], object_ids: Sequence[int]) -> Difference:
    """The documents of `object_ids` beside those that `entries` (of some of these objects) give."""
    known = {key: old for key, old in _documents(head, object_ids).items() if not old.removed}
    wanted = {entry.object_id: document_of(head, entry) for entry in entries}
    return Difference(
        missing=[key for key in wanted if key not in known],
        outdated=[key for key, new in wanted.items() if key in known and differs(known[key], new)],
        superfluous=[key for key in known if key not in wanted],
    )


@transaction.atomic
def recount(*, company: Company, kind: str, write: bool) -> bool:
    """Count the documents anew; whether the head said something else. With `write` it is put right."""
    head = locked(company, kind)
    actual = SearchGeneration(company=company, kind=kind)
    for document in SearchDocument.objects.filter(company=company, kind=kind).iterator(chunk_size=BATCH):
        _count(actual, document, 1)
    known, counted = ({name: n for name, n in each.lengths.items() if n} for each in (head, actual))
    wrong = known != counted or any(getattr(head, name) != getattr(actual, name) for name in COUNTS)
    if wrong and write:
        for name in (*COUNTS, "lengths"):
            setattr(head, name, getattr(actual, name))
        _save(head, 1)
        # Rows came or went without a generation: nobody's memory can be trusted.
        SearchGeneration.objects.filter(pk=head.pk).update(purged=head.generation)
    return wrong


def document_of(head: SearchGeneration, entry: Entry) -> SearchDocument:
    """The row of an entry, unsaved, of the head's next generation."""
    attributes = entry.attributes
    return SearchDocument(
        company_id=head.company_id,
        kind=head.kind,
        object_id=entry.object_id,
        generation=head.generation + 1,
        fields={name: joined(tokens) for name, tokens in entry.fields.items()},
        state=attributes.state,
        day=attributes.day.toordinal(),
        expires=None if attributes.expires is None else attributes.expires.toordinal(),
        agent_id=attributes.agent_id,
        rank=attributes.rank,
        sequence=entry.object_id if attributes.sequence is None else attributes.sequence,
    )


def differs(old: SearchDocument, new: SearchDocument) -> bool:
    """Whether `new` says something else than the stored `old`."""
    return old.removed or any(getattr(old, name) != getattr(new, name) for name in COLUMNS)


def _save(head: SearchGeneration, changes: int) -> None:
    if not changes:
        return
    head.generation += 1
    if head.removed > max(KEPT_REMOVED, head.rows):
        # A process that has not heard of these removals loads everything again.
        SearchDocument.objects.filter(company_id=head.company_id, kind=head.kind, removed=True).delete()
        head.purged, head.removed = head.generation, 0
    head.save()


def locked(company: Company, kind: str) -> SearchGeneration:
    """The head of (company, kind), which nobody else can lock until the transaction ends."""
    SearchGeneration.objects.get_or_create(company=company, kind=kind)
    head = SearchGeneration.objects.select_for_update().get(company=company, kind=kind)
    note_write(head.pk)
    return head


def _documents(head: SearchGeneration, object_ids: Sequence[int]) -> dict[int, SearchDocument]:
    documents = SearchDocument.objects.filter(
        company_id=head.company_id, kind=head.kind, object_id__in=object_ids
    )
    return {document.object_id: document for document in documents}


def _count(head: SearchGeneration, document: SearchDocument | None, sign: int) -> None:
    if document is None:
        return
    if document.removed:
        head.removed += sign
        return
    head.rows += sign
    if document.state:
        return
    head.counted += sign
    for name, text in document.fields.items():
        head.lengths[name] = head.lengths.get(name, 0) + sign * len(split(text))


def _batches(items: Iterable[T]) -> Iterator[list[T]]:
    batch: list[T] = []
    for item in items:
        batch.append(item)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
