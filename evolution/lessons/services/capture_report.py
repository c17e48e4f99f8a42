"""What became of a run of capture: counts for the receipt, the report of the repository and the answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from common.redaction import redact
from evolution.lessons.models import Lesson
from evolution.lessons.rules.churn import TOP_LEFT_OUT, ChurnReport
from evolution.lessons.rules.commits import Skip

#: Codes that a report names; the counts speak of all.
MOST_NAMED = 50


@dataclass(frozen=True)
class Made:
    """A draft, the commit that it comes from (the last of several), and its source."""

    lesson: Lesson
    sha: str
    source: str


@dataclass
class CaptureReport:
    """`skipped` are commits without a draft of their own; `passed_over` counts other triggers by reason.

    `left`: commits for the next run. `notes`: shallow, cursor_lost, overtaken, empty.
    """

    scanned: int = 0
    left: int = 0
    made: list[Made] = field(default_factory=list)
    skipped: list[Skip] = field(default_factory=list)
    passed_over: Counter[str] = field(default_factory=Counter)
    redactions: Counter[str] = field(default_factory=Counter)
    churn_left_out: int = 0
    churn_left_out_top: list[tuple[str, int]] = field(default_factory=list)
    churn_ignored: Counter[str] = field(default_factory=Counter)
    churn_ignored_top: list[tuple[str, int]] = field(default_factory=list)
    churn_large_commits: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def skips(self) -> Counter[str]:
        """Reason -> how many."""
        return Counter(skip.reason for skip in self.skipped) + self.passed_over

    def note(self, word: str) -> None:
        if word not in self.notes:
            self.notes.append(word)

    def add_churn(self, found: ChurnReport) -> None:
        """What the rule says of files that gave no draft."""
        self.churn_left_out += found.left_out
        self.churn_left_out_top = _hottest(self.churn_left_out_top, found.left_out_top)
        self.churn_ignored.update(found.ignored)
        self.churn_ignored_top = _hottest(self.churn_ignored_top, found.ignored_top)
        self.churn_large_commits += found.large_commits
        self.passed_over += Counter(
            {
                "churn_cooldown": found.cooling,
                "churn_ignored": sum(found.ignored.values()),
                "churn_cap": found.left_out,
                "undated": found.undated_commits,
            }
        )

    def add(self, other: CaptureReport) -> None:
        """Count a further part of the same run."""
        self.scanned += other.scanned
        self.made += other.made
        self.skipped += other.skipped
        self.passed_over += other.passed_over
        self.redactions += other.redactions
        self.churn_left_out += other.churn_left_out
        self.churn_left_out_top = _hottest(self.churn_left_out_top, other.churn_left_out_top)
        self.churn_ignored += other.churn_ignored
        self.churn_ignored_top = _hottest(self.churn_ignored_top, other.churn_ignored_top)
        self.churn_large_commits += other.churn_large_commits
        for word in other.notes:
            self.note(word)

    def counts(self) -> dict[str, Any]:
        """For the receipt: counts only."""
        return {
            "scanned": self.scanned,
            "captured": len(self.made),
            "by_source": dict(sorted(Counter(str(made.source) for made in self.made).items())),
            "skipped": dict(sorted(self.skips.items())),
            "redactions": dict(sorted(self.redactions.items())),
        }

    def as_json(self, now: datetime) -> dict[str, Any]:
        """For the repository, as its page shows it."""
        return {
            "at": now.isoformat(),
            **self.counts(),
            "left": self.left,
            "lessons": [made.lesson.code for made in self.made[:MOST_NAMED]],
            "churn": {
                "left_out": self.churn_left_out,
                "left_out_top": [list(item) for item in self.churn_left_out_top],
                "ignored": dict(sorted(self.churn_ignored.items())),
                "ignored_top": [list(item) for item in self.churn_ignored_top],
                "large_commits": self.churn_large_commits,
            },
            "notes": list(self.notes),
        }


def failure_json(message: str, before: Mapping[str, Any]) -> dict[str, Any]:
    """The report of a repository that could not be read; what the last good run said stays beside it."""
    return {**{name: value for name, value in before.items() if name != "error"}, "error": message}


def _hottest(known: list[tuple[str, int]], more: list[tuple[str, int]]) -> list[tuple[str, int]]:
    together = dict(known)
    for path, count in more:
        shown = redact(path).text
        together[shown] = max(count, together.get(shown, 0))
    return sorted(together.items(), key=lambda item: (-item[1], item[0]))[:TOP_LEFT_OUT]
