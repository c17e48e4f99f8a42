"""Short ways to put notes into the index and to ask for them."""

from datetime import date

from common.search.rules.query import Attributes, Bm25, Query, Scope
from common.search.selectors import search
from common.search.services import index_object

TODAY = date(2026, 8, 1)


def put(company, key, text, kind="note", **attributes):
    """Whether anything was written."""
    return index_object(
        company=company,
        kind=kind,
        object_id=key,
        fields={"text": text.split()},
        attributes=Attributes(**attributes),
    )


def ask(company, text, kind="note", scope=None, limit=10, **query):
    signals = {"text": Bm25("text", text.split())}
    return search(
        company=company, kind=kind, query=Query(signals, **query), scope=scope or Scope(), limit=limit
    )


def found(*args, **options):
    """The ids of the hits, the best first."""
    return [hit.object_id for hit in ask(*args, **options).hits]
