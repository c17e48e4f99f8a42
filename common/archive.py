"""The base of every command that moves old rows out of the way: trial run, cut-off, batches, progress, counts."""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from tqdm import tqdm

from common.errors import ApplicationError

#: Rows moved in one transaction; 10,000 is the fastest size on PostgreSQL (docs/performance.md).
BATCH = 10_000
#: Years that a time may lie in: keeping times are taken from it and zones change it, both within the calendar.
YEARS = 1970, 9000


@dataclass(frozen=True)
class Run:
    """What a run was asked for. `limit` None = no limit; `progress(n)` tells that n more rows are done."""

    now: datetime
    dry_run: bool
    limit: int | None
    progress: Callable[[int], Any]


@dataclass
class Outcome:
    """What a run did, or would do: counts by what happened to the rows, and lines worth printing."""

    counts: dict[str, int] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)


def in_batches(keys: Sequence[int], size: int = BATCH) -> Iterator[Sequence[int]]:
    """The keys in slices of `size`, in order."""
    for start in range(0, len(keys), size):
        yield keys[start : start + size]


def moment(text: str) -> datetime:
    """An aware time from ISO 8601; a time without a zone is read in TIME_ZONE. CommandError otherwise."""
    try:
        parsed = parse_datetime(text.strip())
    except ValueError:
        parsed = None
    if parsed is None:
        raise CommandError(f"“{text}” is no ISO 8601 time, e.g. 2026-06-12T08:00:00+08:00.")
    if not YEARS[0] <= parsed.year <= YEARS[1]:
        raise CommandError(f"“{text}” is not within the years {YEARS[0]} to {YEARS[1]}.")
    return parsed if timezone.is_aware(parsed) else timezone.make_aware(parsed)


class ArchiveCommand(BaseCommand):
    """Subclasses say what is due in `run`; a trial run and a real one go through the same function.

    Running again moves nothing more; the exit code is non-zero only on an error.
    """

    #: Word for what is moved, shown beside the progress bar.
    unit = "rows"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="Show what would happen; change nothing.")
        parser.add_argument("--limit", type=int, help="At most this many rows in this run.")
        parser.add_argument(
            "--as-of", type=moment, help="Act as if it were this time (ISO 8601; default now)."
        )

    @abstractmethod
    def run(self, run: Run, options: dict[str, Any]) -> Outcome:
        """Do it, or with `run.dry_run` only count it."""

    def handle(self, *args: Any, **options: Any) -> None:
        limit = options["limit"]
        if limit is not None and limit < 1:
            raise CommandError("--limit must be at least 1.")
        with progress_bar(self.unit) as advance:
            run = Run(options["as_of"] or timezone.now(), options["dry_run"], limit, advance)
            try:
                outcome = self.run(run, options)
            except ApplicationError as error:
                raise CommandError(str(error.message)) from error
        for line in outcome.lines:
            self.stdout.write(line)
        counts = " ".join(f"{name} {count}" for name, count in outcome.counts.items())
        self.stdout.write(f"{'would have: ' if run.dry_run else ''}{counts}")


@contextmanager
def progress_bar(unit: str, total: int | None = None) -> Iterator[Callable[[int], Any]]:
    """A progress bar on a terminal, nothing elsewhere; yields the function that advances it."""
    with tqdm(total=total, unit=unit, disable=not sys.stderr.isatty(), leave=False) as bar:
        yield bar.update
