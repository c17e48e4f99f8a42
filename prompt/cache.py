"""Finished answers of this process, by everything that they depend on: nothing ever needs to be purged."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple

#: Where the view leaves the `AnswerKey` of an answer that may be kept, in the request's environment.
KEY = "fieldbook.prompt_key"

MAX_ENTRIES = 1024
MAX_BYTES = 32 * 1024 * 1024


class AnswerKey(NamedTuple):
    """What decides the text of a request without task, user and query.

    The hash belongs to the version: after a restore from a backup the same number can name another body.
    """

    agent_id: int
    version: int
    body_sha256: str
    company_id: int
    company_slug: str
    day: str
    time_zone: str
    media_type: str


#: The parts of a request, besides the `AnswerKey`, that a header of the answer depends on.
Variant = tuple[str | None, ...]


@dataclass(frozen=True)
class Answer:
    """Status line, headers (without the request id) and body, as Django gave them."""

    status: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass
class Entry:
    """One prompt: its ETag, and the answers seen so far by their HTTP status."""

    etag: str
    answers: dict[int, Answer] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return sum(len(answer.body) for answer in self.answers.values())


class AnswerCache:
    """A bounded LRU, safe for threads. Errors are never put here."""

    def __init__(self, max_entries: int = MAX_ENTRIES, max_bytes: int = MAX_BYTES) -> None:
        self._max_entries, self._max_bytes = max_entries, max_bytes
        self._entries: OrderedDict[tuple[AnswerKey, Variant], Entry] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def get(self, key: AnswerKey, variant: Variant) -> Entry | None:
        with self._lock:
            entry = self._entries.get((key, variant))
            if entry is not None:
                self._entries.move_to_end((key, variant))
            return entry

    def put(self, key: AnswerKey, variant: Variant, etag: str, code: int, answer: Answer) -> None:
        """Keep an answer; the least recently used go first. One too large for its share is not kept."""
        if len(answer.body) > self._max_bytes // 8:
            return
        with self._lock:
            old = self._entries.pop((key, variant), None)
            self._bytes -= old.size if old else 0
            answers = dict(old.answers) if old and old.etag == etag else {}
            entry = self._entries[(key, variant)] = Entry(etag, {**answers, code: answer})
            self._bytes += entry.size
            while len(self._entries) > self._max_entries or self._bytes > self._max_bytes:
                _key, oldest = self._entries.popitem(last=False)
                self._bytes -= oldest.size

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self._bytes = 0

    def __len__(self) -> int:
        return len(self._entries)


#: The one of this process.
answers = AnswerCache()
