"""Where a library is too large for memory: the database counts words and proposes documents.

A mark is a token with its company, kind and field (and `~` for documents of other states than 0). SQLite keeps
marks in an FTS5 table that triggers fill, PostgreSQL in a GIN index over hashes of them. Both are derived from
`SearchDocument.fields` and are put in place after every migrate: a table that SQLite rebuilds loses its triggers.
"""

from __future__ import annotations

import string
from collections.abc import Sequence

from django.db import connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BooleanField, Q, QuerySet
from django.db.models.expressions import RawSQL

from common.search.models import SearchDocument, SearchGeneration
from common.search.rules.matching import Term, rarest
from common.search.rules.query import Scope

#: Documents that are looked at for one query.
MOST = 5000
#: Tokens by which documents are proposed.
TOKENS = 12

_TABLE = SearchDocument._meta.db_table
# All printable ASCII and everything above is part of a token; only the newline between tokens separates.
_SIGNS = "".join(sign for sign in string.printable if sign in string.punctuation + " ")
_TOKENIZER = "ascii tokenchars '{}'".format(_SIGNS.replace("'", "''")).replace('"', '""')
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def _marks_of(row: str) -> str:
    """SQLite's expression for all marks of a row of the table, each on its line."""
    start = f"{row}.company_id || '.' || {row}.kind || CASE {row}.state WHEN 0 THEN '.' ELSE '~' END"
    return f"""(
        SELECT group_concat(prefix || replace(value, char(10), char(10) || prefix), char(10))
        FROM (SELECT value, {start} || key || ':' AS prefix FROM json_each({row}.fields) WHERE value <> '')
    )"""  # noqa: S608  nothing in it comes from outside


_DROP = f"INSERT INTO search_marks (search_marks, rowid, marks) VALUES ('delete', old.id, {_marks_of('old')})"  # noqa: S608
_ADD = f"INSERT INTO search_marks (rowid, marks) VALUES (new.id, {_marks_of('new')})"  # noqa: S608
_FILL = f"INSERT INTO search_marks (rowid, marks) SELECT id, {_marks_of('d')} FROM {_TABLE} d"  # noqa: S608
_TRIGGERS = {
    "insert": ("INSERT", _ADD),
    "delete": ("DELETE", _DROP),
    "update": ("UPDATE OF company_id, kind, state, fields", f"{_DROP}; {_ADD}"),
}
_POSTGRESQL = (
    """CREATE OR REPLACE FUNCTION search_marks(company bigint, kind text, state integer, fields jsonb)
    RETURNS bigint[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT array_agg(DISTINCT hashtextextended(
            company || '.' || kind || CASE state WHEN 0 THEN '.' ELSE '~' END || field.key || ':' || token, 0))
        FROM jsonb_each_text(fields) AS field, unnest(string_to_array(field.value, E'\\n')) AS token
    $$""",
    f"""CREATE INDEX IF NOT EXISTS search_document_marks ON {_TABLE}
    USING gin (search_marks(company_id, kind, state, fields)) WHERE NOT removed""",
)


def install(database: BaseDatabaseWrapper) -> None:
    """Make what `database` needs to propose documents, as far as it is not there."""
    existing = set(database.introspection.table_names())
    if _TABLE not in existing:
        return
    with database.cursor() as cursor:
        if database.vendor == "postgresql":
            for statement in _POSTGRESQL:
                cursor.execute(statement)
            return
        if "search_marks" not in existing:
            options = f"content='', detail=none, columnsize=0, tokenize=\"{_TOKENIZER}\""
            cursor.execute(f"CREATE VIRTUAL TABLE search_marks USING fts5(marks, {options})")
            cursor.execute("CREATE VIRTUAL TABLE search_marks_found USING fts5vocab(search_marks, row)")
            cursor.execute(_FILL)
        for name, (event, statement) in _TRIGGERS.items():
            cursor.execute(f"DROP TRIGGER IF EXISTS search_marks_{name}")
            cursor.execute(
                f"CREATE TRIGGER search_marks_{name} AFTER {event} ON {_TABLE} BEGIN {statement}; END"
            )


def refill() -> None:
    """Write the marks anew, where they are a table of their own."""
    if connection.vendor != "sqlite":
        return
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("INSERT INTO search_marks (search_marks) VALUES ('delete-all')")
        cursor.execute(_FILL)


def frequencies(head: SearchGeneration, terms: Sequence[Term]) -> list[int]:
    """In how many documents of state 0 each term is."""
    single = {mark for term in terms if len(term.tokens) == 1 for mark in _marks(head, term)}
    known = _single_frequencies(sorted(single))
    return [
        known.get(marks[0], 0) if len(marks := _marks(head, term)) == 1 else _count(marks) for term in terms
    ]


def candidates(
    head: SearchGeneration, terms: Sequence[Term], counts: Sequence[int], scope: Scope
) -> QuerySet[SearchDocument]:
    """Documents in scope with one of the rarest tokens; the newest ones when there are too many."""
    aside = bool(set(scope.states) - {0})
    chosen = rarest(terms, counts, tokens=TOKENS, documents=MOST, unknown=aside)
    marks = [
        mark for term in chosen for sign in (".~" if aside else ".") for mark in _marks(head, term, sign)
    ]
    documents = in_scope(head, scope).filter(_has_any(marks)) if marks else SearchDocument.objects.none()
    return documents.order_by("-day", "object_id")[:MOST]


def in_scope(head: SearchGeneration, scope: Scope) -> QuerySet[SearchDocument]:
    """The documents that may be found."""
    documents = SearchDocument.objects.filter(
        company_id=head.company_id, kind=head.kind, removed=False, state__in=list(scope.states)
    )
    if scope.agent_id is not None:
        documents = documents.filter(Q(agent_id=None) | Q(agent_id=scope.agent_id))
    if scope.today is not None:
        documents = documents.filter(Q(expires=None) | Q(expires__gte=scope.today.toordinal()))
    return documents


def _marks(head: SearchGeneration, term: Term, sign: str = ".") -> list[str]:
    marks = [f"{head.company_id}.{head.kind}{sign}{term.field}:{token}" for token in term.tokens]
    return [mark.translate(_LOWER) for mark in marks] if connection.vendor == "sqlite" else marks


def _match(marks: Sequence[str]) -> str:
    """FTS5's question for any of the marks."""
    return " OR ".join('"{}"'.format(mark.replace('"', '""')) for mark in marks)


def _hashes(marks: Sequence[str]) -> str:
    """PostgreSQL's array of the hashes, with a place for each mark."""
    return f"ARRAY[{', '.join(['hashtextextended(%s, 0)'] * len(marks))}]"


def _has_any(marks: Sequence[str]) -> Q | RawSQL:
    if connection.vendor == "sqlite":
        return Q(pk__in=RawSQL("SELECT rowid FROM search_marks WHERE search_marks MATCH %s", [_match(marks)]))
    condition = f"search_marks(company_id, kind, state, fields) && {_hashes(marks)}"
    return RawSQL(condition, marks, output_field=BooleanField())  # noqa: S611  only places for values


def _count(marks: Sequence[str]) -> int:
    """How many documents have any of the marks."""
    return SearchDocument.objects.filter(_has_any(marks), removed=False).count()


def _single_frequencies(marks: Sequence[str]) -> dict[str, int]:
    if connection.vendor != "sqlite":
        return {mark: _count([mark]) for mark in marks}
    found: dict[str, int] = {}
    with connection.cursor() as cursor:
        for start in range(0, len(marks), 500):
            part = marks[start : start + 500]
            places = ", ".join(["%s"] * len(part))
            statement = f"SELECT term, doc FROM search_marks_found WHERE term IN ({places})"  # noqa: S608
            cursor.execute(statement, part)
            found |= dict(cursor.fetchall())
    return found
