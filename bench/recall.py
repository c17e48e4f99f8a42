"""`make bench-recall ARGS="DATA"`: how well recall finds, through the REST API, beside its peers in the same run.

DATA is the folder of the retrieval benchmark: `recall/` holds `curl.*` and `django.*` (commits as records, later
commits as tasks, and which earlier commits their authors named), `commits/` histories with Chinese messages. Only
records before a task are candidates, and the clock stands on the task's day.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import random
import re
import sys
import tempfile
import time
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

TARGET, KEPT, STRONG, UNRELATED_STRONG, UNRELATED_POSSIBLE = 1.30, 0.95, 0.75, 0.02, 0.25
LIBRARY = 200
_HAN = re.compile(r"[\u4e00-\u9fff]")


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="fieldbook-bench-") as folder:
        os.environ["DATABASE_URL"] = f"sqlite:///{Path(folder) / 'recall.sqlite3'}"
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.test")
        import django  # noqa: PLC0415  settings come first

        django.setup()
        from django.core.management import call_command  # noqa: PLC0415

        call_command("migrate", verbosity=0)
        missed = sum(quality(options, name) for name in options.sets)
        missed += calibration(options)
        missed += chinese(options)
    return 1 if missed and options.check else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder with recall/ and commits/")
    parser.add_argument("--queries", type=int, default=100, help="tasks of each set, evenly chosen (100)")
    parser.add_argument("--sets", nargs="*", default=["curl", "django"], help="curl, django")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a target is missed")
    return parser.parse_args()


def quality(options: argparse.Namespace, name: str) -> bool:
    """nDCG@10 of each engine on one set, and how far its right hits are trusted."""
    from bench.recall_peers import Fts5, Ours, Seed  # noqa: PLC0415  settings come first

    records = _records(options.data, name)
    tasks = _tasks(options.data, name, records)
    tasks = tasks[:: max(len(tasks) // options.queries, 1)]
    ours = Ours(name)
    engines: list[Any] = [ours, Fts5(), Seed()]
    gains: dict[str, list[float]] = {engine.name: [] for engine in engines}
    seconds = dict.fromkeys(gains, 0.0)
    trusted: list[float] = []
    added = 0
    for before, task in tasks:
        for engine in engines:
            engine.add(records[added:before])
        added = before
        for engine in engines:
            started = time.perf_counter()
            gains[engine.name].append(ndcg(engine.ask(task), task.right))
            seconds[engine.name] += time.perf_counter() - started
        trusted += [relevance for key, relevance in ours.hits[:5] if key in task.right]
    means = {engine: sum(own) / len(own) for engine, own in gains.items()}
    best = max(mean for engine, mean in means.items() if engine != ours.name)
    print(f"\n{name}: {len(tasks)} tasks over {added:,} records, nDCG@10")
    for engine, mean in means.items():
        print(f"  {engine:<18}{mean:.3f}   {1000 * seconds[engine] / len(tasks):7.1f} ms a task")
    ratio = means[ours.name] / best
    print(f"  ratio to the best peer {ratio:.2f} (target {TARGET:.2f}){'  missed' * (ratio < TARGET)}")
    shares = [sum(value >= limit for value in trusted) / max(len(trusted), 1) for limit in (0.3, 0.6)]
    print(
        f"  right hits in the top 5: {len(trusted)}; kept at 0.3 {shares[0]:.1%} (target {KEPT:.0%}), "
        f"strong {shares[1]:.1%} (target {STRONG:.0%})"
    )
    return ratio < TARGET or shares[0] < KEPT or shares[1] < STRONG


def calibration(options: argparse.Namespace) -> bool:
    """Tasks that have nothing to do with a library of 200 lessons: how often do they get a hit?"""
    missed = False
    for library, asking in (("curl", "django"), ("django", "curl")):
        if not {library, asking} <= set(options.sets):
            continue
        records = _sample(_records(options.data, library))
        found = _tasks(options.data, asking, _records(options.data, asking))
        tasks = [task for _before, task in found[:: max(len(found) // options.queries, 1)]]
        missed |= _unrelated(f"{asking} tasks, {library} lessons", f"calib-{library}", records, tasks)
    return missed


def chinese(options: argparse.Namespace) -> bool:
    """A commit's subject in Chinese should find its own body; and another history's subjects little.

    Subjects repeat and both histories are about agents: read the first as a comparison, the second as an upper bound.
    """
    from bench.recall_peers import Fts5, Ours, Record, Task  # noqa: PLC0415  settings come first

    commits = _commits(options.data, "DC-ET_mao")
    day = date(2026, 9, 1)
    records = [Record(key, f"commit {key}", one["body"], [], day) for key, one in enumerate(commits, 1)]
    step = max(len(commits) // (2 * options.queries), 1)
    asked = list(enumerate(commits, 1))[::step]
    engines: list[Any] = [Ours("chinese"), Fts5("unicode61"), Fts5("trigram")]
    engines[1].name, engines[2].name = "FTS5 unicode61", "FTS5 trigram"
    print(f"\nChinese: {len(asked)} subjects over {len(records)} bodies, R@1 (zero hits)")
    for engine in engines:
        engine.add(records)
        answers = [(key, engine.ask(Task(one["subject"], [], day))) for key, one in asked]
        first = sum(bool(found) and found[0] == key for key, found in answers) / len(answers)
        nothing = sum(not found for _key, found in answers) / len(answers)
        print(f"  {engine.name:<18}{first:.1%} ({nothing:.1%})")
    others = [one for one in _commits(options.data, "Kucell_cortex-agent") if one["subject"]]
    tasks = [Task(one["subject"], [], day) for one in others[:: max(len(others) // options.queries, 1)]]
    return _unrelated("Chinese tasks of another history", "calib-zh", _sample(records), tasks)


def _unrelated(title: str, slug: str, records: list, tasks: list) -> bool:
    from bench.recall_peers import Ours, Record  # noqa: PLC0415  settings come first

    ours = Ours(slug)
    ours.add([Record(key, one.title, one.text, one.files, one.day) for key, one in enumerate(records, 1)])
    best = []
    for task in tasks:
        ours.ask(task)
        best.append(max((relevance for _key, relevance in ours.hits), default=0.0))
    strong, possible = (sum(value >= limit for value in best) / len(best) for limit in (0.6, 0.3))
    is_missed = strong > UNRELATED_STRONG or possible > UNRELATED_POSSIBLE
    print(
        f"\nunrelated, {title}: {len(best)} tasks, {len(records)} lessons; with a strong hit {strong:.1%} "
        f"(target <= {UNRELATED_STRONG:.0%}), with a hit {possible:.1%} (target <= {UNRELATED_POSSIBLE:.0%})"
        f"{'  missed' * is_missed}"
    )
    return is_missed


def ndcg(ranked: list[int], right: frozenset[int], depth: int = 10) -> float:
    """Normalised discounted cumulative gain of the first `depth`."""
    gain = sum(1 / math.log2(place + 2) for place, key in enumerate(ranked[:depth]) if key in right)
    return gain / sum(1 / math.log2(place + 2) for place in range(min(len(right), depth)))


def _records(data: Path, name: str) -> list:
    from bench.recall_peers import Record  # noqa: PLC0415  settings come first

    return [
        Record(
            row["id"] + 1,
            row["title"],
            row["text"],
            row["files"],
            datetime.fromtimestamp(row["ts"], UTC).date(),
        )
        for row in _read(data / "recall" / f"{name}.records.jsonl.gz")
    ]


def _tasks(data: Path, name: str, records: list) -> list[tuple[int, Any]]:
    from bench.recall_peers import Task  # noqa: PLC0415  settings come first

    tasks = []
    for row in _read(data / "recall" / f"{name}.queries.jsonl.gz"):
        title, text = row["title"], row["text"]
        whole = text if text.startswith(title) else f"{title}\n{text}"
        day = records[row["before"] - 1].day
        right = frozenset(key + 1 for key in row["relevant"])
        tasks.append((row["before"], Task(whole, row["files"], day, right)))
    return sorted(tasks, key=lambda pair: pair[0])


def _commits(data: Path, name: str) -> list[dict[str, Any]]:
    """Commits with a Chinese subject and body."""
    lines = (data / "commits" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [
        row for row in rows if len(_HAN.findall(row["subject"])) >= 6 and len(_HAN.findall(row["body"])) >= 20
    ]


def _sample(records: list) -> list:
    return random.Random(7).sample(records, min(LIBRARY, len(records)))


def _read(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


if __name__ == "__main__":
    sys.exit(main())
