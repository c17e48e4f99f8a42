"""`make bench-pages`: the server time of the admin's pages at 100 and at 100,000 rows, in one run on SQLite."""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

SMALL, TARGET = 100, 3.0
LARGE = 100_000
PAGES = {
    "agents": "/admin/agents/agent/",
    "experiences": "/admin/experiences/experience/",
    "documents": "/admin/agents/document/",
    "receipts": "/admin/receipts/receipt/",
    "proposals": "/admin/proposals/proposal/",
    "review queue": "/admin/proposals/proposal/queue/",
    "start page": "/admin/",
    "one agent": "/admin/agents/agent/{agent}/change/",
}


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="fieldbook-bench-") as folder:
        os.environ["DATABASE_URL"] = f"sqlite:///{Path(folder) / 'pages.sqlite3'}"
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.test")
        import django  # noqa: PLC0415  settings come first

        django.setup()
        from bench.pages_data import client_and_agent, grow, prepare  # noqa: PLC0415

        prepare()
        client, agent = client_and_agent()
        small = large = {}
        for rows in (SMALL, options.rows):
            grow(agent, rows)
            times = {
                name: _median(client, path.format(agent=agent), options.rounds)
                for name, path in PAGES.items()
            }
            small, large = (times, large) if rows == SMALL else (small, times)
    return _report(small, large, options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="requests per page and size (7)")
    parser.add_argument("--rows", type=int, default=LARGE, help="the large size (100,000)")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a target is missed")
    return parser.parse_args()


def _median(client, path: str, rounds: int) -> float:
    """Median milliseconds of a page after one request to warm up."""
    times = []
    for number in range(rounds + 1):
        start = time.perf_counter()
        response = client.get(path)
        if response.status_code != 200:
            raise SystemExit(f"{path} answered {response.status_code}")
        if number:
            times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times)


def _report(small: dict[str, float], large: dict[str, float], options: argparse.Namespace) -> int:
    missed = 0
    print(f"{'page':<14}{SMALL:>10} rows{options.rows:>12} rows   ratio (target <= {TARGET:g})")
    for name, before in small.items():
        ratio = large[name] / before
        missed += ratio > TARGET
        print(
            f"{name:<14}{before:>12.1f} ms{large[name]:>14.1f} ms   {ratio:5.2f}{'  missed' * (ratio > TARGET)}"
        )
    return 1 if missed and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
