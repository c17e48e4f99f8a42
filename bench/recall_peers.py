"""The engines that `bench.recall` compares: each is given the same records and answers the same tasks."""

from __future__ import annotations

import json
import re
import sqlite3
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, Protocol

import time_machine
from django.test import Client
from django.utils import timezone

from common.actors import Actor, Channel
from common.companies.models import Company
from common.companies.services import issue_api_key
from common.search.rules.query import Entry
from common.search.services import index_objects
from evolution.lessons.models import Lesson
from evolution.lessons.rules.search_fields import KIND, index_attributes, index_fields

TOP = 10
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Record:
    """What is searched: a commit as a lesson. `key` counts from 1."""

    key: int
    title: str
    text: str
    files: list[str] = field(default_factory=list)
    day: date = date(2026, 1, 1)


@dataclass(frozen=True)
class Task:
    """What is asked, on which day, and which keys are right."""

    text: str
    files: list[str]
    day: date
    right: frozenset[int] = frozenset()


class Engine(Protocol):
    """Something that is filled and asked."""

    name: str

    def add(self, records: list[Record]) -> None: ...

    def ask(self, task: Task) -> list[int]: ...


class Ours:
    """`POST /api/v1/lessons/recall`; the clock stands on the day of the task."""

    name = "Fieldbook, REST"

    def __init__(self, slug: str) -> None:
        self.company = Company.objects.create(slug=slug, name=slug)
        actor = Actor(name="bench", channel=Channel.COMMAND)
        _key, text = issue_api_key(
            company=self.company, name="bench", scopes=["read"], actor=actor, now=timezone.now()
        )
        self.client = Client(SERVER_NAME="localhost", headers={"authorization": f"Bearer {text}"})
        self.first: int | None = None
        #: (key, relevance) of the last answer.
        self.hits: list[tuple[int, float]] = []

    def add(self, records: list[Record]) -> None:
        rows = [
            Lesson(
                company=self.company,
                number=record.key,
                title=record.title[:200] or "-",
                what=record.text[:10_000],
                related_files=record.files,
                date=record.day,
                status="active",
                created_by="bench",
            )
            for record in records
        ]
        for start in range(0, len(rows), 500):
            batch = Lesson.objects.bulk_create(rows[start : start + 500])
            index_objects(company=self.company, kind=KIND, entries=map(_entry, batch))

    def ask(self, task: Task) -> list[int]:
        body = {
            "task": task.text[:4000],
            "files": [path[:500] for path in task.files[:500]],
            "top_k": TOP,
            "min_relevance": 0,
        }
        noon = datetime(task.day.year, task.day.month, task.day.day, 12, tzinfo=UTC)
        with time_machine.travel(noon, tick=False):
            answer = self.client.post(
                "/api/v1/lessons/recall", json.dumps(body), content_type="application/json"
            )
        if answer.status_code != 200:
            raise SystemExit(answer.content.decode())
        found: list[dict[str, Any]] = answer.json()["matched_experiences"]
        self.hits = [(int(match["id"][4:]), match["relevance"]) for match in found]
        return [key for key, _relevance in self.hits]


def _entry(lesson: Lesson) -> Entry:
    fields = index_fields(
        title=lesson.title, takeaway="", what=lesson.what, tags=[], files=lesson.related_files
    )
    attributes = index_attributes(
        status="active",
        day=lesson.date,
        expires=None,
        agent_id=None,
        severity="medium",
        number=lesson.number,
    )
    return Entry(lesson.pk, fields, attributes)


class Fts5:
    """SQLite FTS5 with its stemmer: title twice, body, files; the words of task and paths with OR."""

    name = "FTS5 with files"

    def __init__(self, tokenizer: str = "porter unicode61") -> None:
        self.is_trigram = tokenizer == "trigram"
        self.database = sqlite3.connect(":memory:")
        self.database.execute(
            f"CREATE VIRTUAL TABLE r USING fts5(title, body, files, tokenize='{tokenizer}')"
        )

    def add(self, records: list[Record]) -> None:
        rows = [(one.key, one.title, one.text, " ".join(one.files)) for one in records]
        self.database.executemany("INSERT INTO r (rowid, title, body, files) VALUES (?, ?, ?, ?)", rows)

    def ask(self, task: Task) -> list[int]:
        words = dict.fromkeys(_WORD.findall(f"{task.text} {' '.join(task.files)}".lower()))
        if self.is_trigram:
            words = dict.fromkeys(word[at : at + 3] for word in words for at in range(max(len(word) - 2, 1)))
        query = " OR ".join(f'"{word}"' for word in words)
        ranked = "SELECT rowid FROM r WHERE r MATCH ? ORDER BY bm25(r, 2.0, 1.0, 1.0) LIMIT ?"
        return [key for (key,) in self.database.execute(ranked, (query, TOP))] if query else []


class Seed:
    """0.3 x the share of the task's words in the record + 0.2 x the share of its files; no threshold."""

    name = "seed formula"

    def __init__(self) -> None:
        self.records: list[tuple[int, set[str], set[str]]] = []

    def add(self, records: list[Record]) -> None:
        for one in records:
            words = set(_WORD.findall(f"{one.title} {one.text}".lower()))
            self.records.append((one.key, words, set(one.files)))

    def ask(self, task: Task) -> list[int]:
        words, files = set(_WORD.findall(task.text.lower())), set(task.files)

        def score(record: tuple[int, set[str], set[str]]) -> float:
            _key, has, lists = record
            return 0.3 * len(words & has) / max(len(words), 1) + 0.2 * len(files & lists) / max(len(files), 1)

        # Among equals the newest, which is the kinder choice.
        ranked = sorted(self.records, key=lambda record: (-score(record), -record[0]))[:TOP]
        return [record[0] for record in ranked]
