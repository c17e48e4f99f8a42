"""The engines that `bench.latency` compares: each indexes the same records and answers the same questions."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import psycopg

from bench.latency_data import Question, Record
from common.companies.models import Company
from common.search.cache import SHELF
from common.search.rules.query import Entry, Scope
from common.search.selectors import search
from common.search.services import index_objects
from evolution.lessons.rules.recall import recall_query
from evolution.lessons.rules.search_fields import KIND, index_attributes, index_fields, search_query

try:
    import bm25s
except ImportError:
    bm25s = None

TODAY = date(2026, 8, 1)
TOP = 10
_WORD = re.compile(r"\w+")


class Ours:
    """All signals of a recall, through the services and selectors of the application."""

    name = "ours"

    def __init__(self, company: Company) -> None:
        self.company = company
        self.times: dict[str, float] = {}

    def fill(self, library: list[Record]) -> None:
        """Seconds for words, rows of the database, arrays in memory."""
        started = time.perf_counter()
        entries = [entry(number, record) for number, record in enumerate(library, 1)]
        worded = time.perf_counter()
        for start in range(0, len(entries), 5000):
            index_objects(company=self.company, kind=KIND, entries=entries[start : start + 5000])
        written = time.perf_counter()
        self.load()
        loaded = time.perf_counter()
        self.times = {"words": worded - started, "rows": written - worded, "arrays": loaded - written}

    def load(self) -> None:
        """The first question of a new process."""
        SHELF.clear()
        self.prepare(Question(["lock"], []))()

    def prepare(self, question: Question) -> Callable[[], list[int]]:
        query = search_query(recall_query(" ".join(question.words), [], question.files), TODAY)
        scope = Scope(today=TODAY)

        def ask() -> list[int]:
            answer = search(company=self.company, kind=KIND, query=query, scope=scope, limit=TOP)
            return [hit.object_id for hit in answer.hits]

        return ask

    @property
    def megabytes(self) -> float:
        return sum(index.nbytes for index in SHELF.indexes.values()) / 1e6


def entry(number: int, record: Record) -> Entry:
    """A record as an active lesson."""
    fields = index_fields(title=record.title, takeaway="", what=record.text, tags=[], files=record.files)
    attributes = index_attributes(
        status="active",
        day=TODAY - timedelta(days=number % 700),
        expires=None,
        agent_id=None,
        severity="medium",
        number=number,
    )
    return Entry(number, fields, attributes)


class Fts5:
    """SQLite FTS5, unicode61, three columns, any of the words."""

    name = "SQLite FTS5 unicode61"

    def __init__(self, file: Path) -> None:
        self.connection = sqlite3.connect(file)
        self.connection.execute(
            "CREATE VIRTUAL TABLE records USING fts5(title, body, files, tokenize=unicode61)"
        )

    def fill(self, library: list[Record]) -> None:
        rows = [
            (number, record.title, record.text, " ".join(record.files))
            for number, record in enumerate(library, 1)
        ]
        with self.connection:
            self.connection.executemany(
                "INSERT INTO records (rowid, title, body, files) VALUES (?, ?, ?, ?)", rows
            )

    def prepare(self, question: Question) -> Callable[[], list[int]]:
        match = " OR ".join(f'"{word}"' for word in words_of(question))
        sql = "SELECT rowid FROM records WHERE records MATCH ? ORDER BY bm25(records, 2, 1, 1) LIMIT ?"
        return lambda: [row[0] for row in self.connection.execute(sql, (match, TOP))]


class TsRank:
    """PostgreSQL, a GIN index over tsvector, any of the words, ts_rank."""

    name = "PostgreSQL ts_rank"

    def __init__(self, connection: psycopg.Connection) -> None:
        self.connection = connection
        connection.execute("CREATE TABLE records (id int PRIMARY KEY, words tsvector)")

    def fill(self, library: list[Record]) -> None:
        with self.connection.cursor() as cursor, cursor.copy("COPY records FROM STDIN") as rows:
            for number, record in enumerate(library, 1):
                words = " ".join(_words(f"{record.title} {record.text} {' '.join(record.files)}"))
                rows.write_row((number, " ".join(f"'{word}'" for word in dict.fromkeys(words.split()))))
        self.connection.execute("CREATE INDEX ON records USING gin (words)")
        self.connection.execute("ANALYZE records")

    def prepare(self, question: Question) -> Callable[[], list[int]]:
        wanted = " | ".join(f"'{word}'" for word in words_of(question))
        sql = (
            "SELECT id FROM records WHERE words @@ %(q)s::tsquery "
            "ORDER BY ts_rank(words, %(q)s::tsquery) DESC LIMIT %(top)s"
        )
        return lambda: [row[0] for row in self.connection.execute(sql, {"q": wanted, "top": TOP}).fetchall()]


class Bm25s:
    """bm25s over all words of a record."""

    name = "bm25s"

    def __init__(self) -> None:
        self.index = bm25s.BM25(k1=0.9, b=0.4)

    def fill(self, library: list[Record]) -> None:
        texts = [f"{record.title} {record.text} {' '.join(record.files)}" for record in library]
        tokens = bm25s.tokenize(texts, token_pattern=r"(?u)\w+", stopwords=None, show_progress=False)
        self.index.index(tokens, show_progress=False)

    def prepare(self, question: Question) -> Callable[[], list[int]]:
        words = [words_of(question)]
        return lambda: self.index.retrieve(words, k=TOP, show_progress=False)[0][0].tolist()


def words_of(question: Question) -> list[str]:
    """The different words of a question and its files, as the peers split them."""
    return list(dict.fromkeys(_words(" ".join([*question.words, *question.files]))))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
