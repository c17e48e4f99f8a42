"""Files that are repaired again and again: hits of a sliding window over commits. Pure.

docs/rules.md: churn, churn ignores, churn limits.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from evolution.lessons.rules.commits import Commit, captures_anything
from evolution.lessons.rules.kinds import MAX_TITLE
from evolution.lessons.rules.paths import matches_any, normalise_path

THRESHOLD = 3
WINDOW_DAYS = 7
MAX_COMMIT_FILES = 100
MAX_DRAFTS = 20
COOLDOWN = timedelta(days=30)
TOP_LEFT_OUT = 10
MAX_REFERENCES = 50

#: Files that change with every step, are made by a program, or belong to others.
IGNORED = (
    "CHANGELOG*",
    "README*",
    "*.lock",
    "package-lock.json",
    "package.json",
    "pnpm-lock.yaml",
    "go.sum",
    "*.min.js",
    "*.min.css",
    "*.map",
    "*.snap",
    "*.generated.*",
    "*_pb2.py",
    ".agent/memory/**",
    "node_modules/",
    "vendor/",
    "vendored/",
    "third_party/",
    "generated/",
    "__generated__/",
    "__pycache__/",
    "dist/",
    "build/",
    "target/",
    "coverage/",
    ".next/",
    ".venv/",
    "venv/",
)


@dataclass(frozen=True)
class ChurnHit:
    """A file and the hottest window over it: `commits` are the shas of that window, oldest first."""

    path: str
    commits: tuple[str, ...]
    first: datetime
    last: datetime

    @property
    def count(self) -> int:
        return len(self.commits)


@dataclass
class ChurnReport:
    """What became of the files that reached the threshold.

    `ignored` counts them by pattern (and `binary`), with the hottest in `ignored_top`; `cooling` had a draft
    lately; `left_out` were beyond the cap, which are `left_out_paths`.
    """

    hits: list[ChurnHit] = field(default_factory=list)
    left_out: int = 0
    left_out_paths: list[str] = field(default_factory=list)
    left_out_top: list[tuple[str, int]] = field(default_factory=list)
    cooling: int = 0
    ignored: dict[str, int] = field(default_factory=dict)
    ignored_top: list[tuple[str, int]] = field(default_factory=list)
    large_commits: int = 0
    undated_commits: int = 0


@dataclass(frozen=True)
class ChurnLimits:
    """The tunables of a repository. docs/rules.md: churn."""

    threshold: int = THRESHOLD
    window_days: int = WINDOW_DAYS
    is_strict: bool = False
    ignored: tuple[str, ...] = IGNORED
    max_drafts: int = MAX_DRAFTS


_Change = tuple[datetime, str]


def find_churn(
    commits: Iterable[Commit],
    limits: ChurnLimits,
    now: datetime,
    drafted: Mapping[str, datetime] | None = None,
    fresh: Collection[str] | None = None,
) -> ChurnReport:
    """The files changed in `threshold` distinct commits within the window, the hottest first.

    The window is counted by committer date and holds both its ends. `drafted` says when a file last gave a
    draft: within 30 days it gives none. With `fresh` only files count that one of these commits changed: the
    others were looked at before. Merges and the boundary of a shallow clone do not count.
    docs/rules.md: churn.
    """
    report = ChurnReport()
    changes, binary = _changes(commits, limits, report)
    found: list[ChurnHit] = []
    ignored: Counter[str] = Counter()
    ignored_counts: list[tuple[str, int]] = []
    for path, changed in changes.items():
        is_new = fresh is None or any(sha in fresh for _at, sha in changed)
        hit = _hottest(path, changed, limits) if is_new else None
        if hit is None:
            continue
        pattern = matches_any(path, limits.ignored) or ("binary" if path in binary else None)
        if pattern:
            ignored[pattern] += 1
            ignored_counts.append((path, hit.count))
        elif (before := (drafted or {}).get(path)) and now - before <= COOLDOWN:
            report.cooling += 1
        else:
            found.append(hit)
    found.sort(key=lambda hit: (-hit.count, -hit.last.timestamp(), hit.path))
    beyond = found[limits.max_drafts :]
    report.hits = found[: limits.max_drafts]
    report.left_out = len(beyond)
    report.left_out_paths = [hit.path for hit in beyond]
    report.left_out_top = [(hit.path, hit.count) for hit in beyond[:TOP_LEFT_OUT]]
    report.ignored = dict(ignored)
    report.ignored_top = sorted(ignored_counts, key=lambda item: (-item[1], item[0]))[:TOP_LEFT_OUT]
    return report


def churn_title(path: str, days: int, count: int, language: str = "zh") -> str:
    """`<file> 7 天内修改 n 次`, at most 200 code points: a longer path loses its front, not its name."""
    end = f" {days} 天内修改 {count} 次" if language == "zh" else f" changed {count} times in {days} days"
    room = MAX_TITLE - len(end)
    return (path if len(path) <= room else f"…{path[len(path) - room + 1 :]}") + end


def churn_references(hit: ChurnHit) -> list[str]:
    """The commits of the window, at most 50, oldest first."""
    return list(hit.commits[:MAX_REFERENCES])


def _changes(
    commits: Iterable[Commit], limits: ChurnLimits, report: ChurnReport
) -> tuple[dict[str, list[_Change]], set[str]]:
    """Each file under its newest name -> its changes, oldest first; and the names of binary files."""
    changes: dict[str, list[_Change]] = defaultdict(list)
    binary: set[str] = set()
    renamed: dict[str, str] = {}
    for commit in _countable(commits, limits, report):
        assert commit.committer_date is not None
        names: set[str] = set()
        for file in commit.files:
            path = normalise_path(file.path)
            if not path:
                continue
            name = renamed.get(path, path)
            names.add(name)
            if file.is_binary:
                binary.add(name)
            if file.status == "R" and file.old_path:
                # Newest first: from here on back in time the file has its old name.
                renamed[normalise_path(file.old_path)] = name
        for name in names:
            changes[name].append((commit.committer_date, commit.sha))
    return {name: changed[::-1] for name, changed in changes.items()}, binary


def _countable(commits: Iterable[Commit], limits: ChurnLimits, report: ChurnReport) -> Sequence[Commit]:
    """The commits that count, newest first."""
    kept: dict[str, Commit] = {}
    for commit in commits:
        if commit.is_merge or commit.is_boundary or (limits.is_strict and not captures_anything(commit)):
            continue
        if commit.size > MAX_COMMIT_FILES:
            report.large_commits += 1
        elif commit.committer_date is None:
            report.undated_commits += 1
        else:
            kept[commit.sha] = commit
    return sorted(kept.values(), key=lambda commit: (commit.committer_date, commit.sha), reverse=True)


def _hottest(path: str, changed: Sequence[_Change], limits: ChurnLimits) -> ChurnHit | None:
    """The window with the most commits; of equal ones the newest."""
    width = timedelta(days=limits.window_days)
    best = (0, 0)
    start = 0
    for end, (at, _sha) in enumerate(changed):
        while at - changed[start][0] > width:
            start += 1
        if end + 1 - start >= best[1] - best[0]:
            best = (start, end + 1)
    window = changed[best[0] : best[1]]
    if len(window) < limits.threshold:
        return None
    return ChurnHit(path, tuple(sha for _at, sha in window), window[0][0], window[-1][0])
