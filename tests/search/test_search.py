"""What callers of the index may rely on."""

from datetime import date, timedelta

import pytest

from common.search.models import SearchDocument, SearchGeneration
from common.search.rules.query import Attributes, Bm25, Entry, Query, Recency, Scope, Share
from common.search.selectors import search, stored_fields
from common.search.services import index_object, index_objects, remove_object

pytestmark = pytest.mark.django_db
TODAY = date(2026, 8, 1)


def put(company, key, text, kind="note", **attributes):
    fields = {"text": text.split()}
    return index_object(
        company=company, kind=kind, object_id=key, fields=fields, attributes=Attributes(**attributes)
    )


def ask(company, text, kind="note", scope=None, limit=10, **query):
    signals = {"text": Bm25("text", text.split())}
    return search(
        company=company, kind=kind, query=Query(signals, **query), scope=scope or Scope(), limit=limit
    )


def found(*args, **options):
    return [hit.object_id for hit in ask(*args, **options).hits]


def test_a_document_is_found_by_its_words_in_its_company_and_kind_only(acme, rival):
    put(acme, 1, "lock lease")
    put(acme, 2, "断线 重连", kind="plan")
    put(rival, 3, "lock")
    assert found(acme, "lock 断线") == [1]
    assert found(acme, "lock 断线", kind="plan") == [2]
    assert found(rival, "lock 断线") == [3]
    assert found(acme, "lock", kind="nothing") == []
