"""`make bench-injection`: a prompt with knowledge for its task beside the same prompt without, in one run."""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ITEMS, TARGET = 10_000, 3.0
PHASES = ("drafting", "reviewing", "decomposing", "implementing", "error-analysis", "")


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="fieldbook-bench-") as folder:
        os.environ.setdefault("DATABASE_URL", f"sqlite:///{Path(folder) / 'injection.sqlite3'}")
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.test")
        import django  # noqa: PLC0415  settings come first

        django.setup()
        from bench.injection_data import Runtime, prepared  # noqa: PLC0415

        with prepared(options.items) as runtime:
            contenders = _contenders(runtime, Runtime.tasks(options.requests))
            times = _measured(contenders, options.rounds)
    return _report(times, options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=ITEMS, help="active items of knowledge (10,000)")
    parser.add_argument("--requests", type=int, default=40, help="requests of a kind and round (40)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds, in turn (5)")
    parser.add_argument("--check", action="store_true", help="exit with 1 when the target is missed")
    return parser.parse_args()


def _contenders(runtime, tasks: list[str]) -> dict[str, list[Callable[[], None]]]:
    """What is asked in a round, by its name."""
    tasked = [
        lambda task=task, at=at: runtime.prompt({"task": task, "phase": PHASES[at % len(PHASES)]})
        for at, task in enumerate(tasks)
    ]
    return {
        "without": [lambda: runtime.prompt({}) for _task in tasks],
        "with a task": tasked,
        "with a phase alone": [
            lambda at=at: runtime.prompt({"phase": PHASES[at % (len(PHASES) - 1)]})
            for at, _task in enumerate(tasks)
        ],
    }


def _measured(contenders: dict[str, list[Callable[[], None]]], rounds: int) -> dict[str, list[float]]:
    """Sorted milliseconds by name; the first round warms up."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for turn in range(rounds + 1):
        for name, calls in contenders.items():
            took = [_timed(call) for call in calls]
            times[name] += took if turn else []
    return {name: sorted(own) for name, own in times.items()}


def _timed(call: Callable[[], None]) -> float:
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1000


def _report(times: dict[str, list[float]], options: argparse.Namespace) -> int:
    """Print the table; 1 with `--check` when the target is missed."""
    print(f"{options.items:,} items, {options.rounds} rounds of {options.requests} requests\n")
    print("| prompt | p50 ms | p95 ms | p95 to without |\n|---|---|---|---|")
    plain = _p95(times["without"])
    worst = 0.0
    for name, own in times.items():
        ratio = _p95(own) / plain
        worst = max(worst, ratio)
        print(f"| {name} | {statistics.median(own):.1f} | {_p95(own):.1f} | {ratio:.2f} × |")
    print(
        f"\n{'met   ' if worst <= TARGET else 'MISSED'}  p95 with injection at most {TARGET:g} × ({worst:.2f} ×)"
    )
    return 1 if options.check and worst > TARGET else 0


def _p95(times: list[float]) -> float:
    return times[min(len(times) * 95 // 100, len(times) - 1)]


if __name__ == "__main__":
    sys.exit(main())
