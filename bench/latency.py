"""`make bench-latency`: the recall index beside full-text search of SQLite, of PostgreSQL, and bm25s;
and recall through the REST API beside a hello, in one run."""

from __future__ import annotations

import argparse
import contextlib
import os
import secrets
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psutil
import psycopg

POSTGRES_URL = "postgres://postgres@127.0.0.1:5432/fieldbook"
#: How many times faster than the peer, growth from small to large, megabytes, times the ingest of bm25s.
FASTER = {"SQLite FTS5 unicode61": 38.0, "PostgreSQL ts_rank": 110.0}
GROWTH, MEGABYTES, INGEST = 6.0, 100.0, 4.0
SMALL = 10_000


def main() -> int:
    options = _options()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fieldbook-bench-")))
        os.environ["DATABASE_URL"] = f"sqlite:///{folder / 'ours.sqlite3'}"
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.test")
        import django  # noqa: PLC0415  settings come first

        django.setup()
        from django.core.management import call_command  # noqa: PLC0415

        from bench.latency_rest import measure_rest  # noqa: PLC0415

        call_command("migrate", verbosity=0)
        missed = measure_rest(options)
        runs = [
            measure(size, options, folder, stack.enter_context(_postgresql()))
            for size in dict.fromkeys((min(SMALL, options.records), options.records))
        ]
    return report(runs, missed, options.check)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000, help="size of the large library (100,000)")
    parser.add_argument("--questions", type=int, default=100, help="questions a round (100)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds, in turn with the peers (5)")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a target is missed")
    return parser.parse_args()


@contextlib.contextmanager
def _postgresql() -> Iterator[psycopg.Connection | None]:
    """A database of its own; None where no server answers."""
    url = urlsplit(os.environ.get("TEST_DATABASE_URL", POSTGRES_URL))
    name = f"fieldbook_bench_{secrets.token_hex(4)}"
    try:
        server = psycopg.connect(
            urlunsplit(url._replace(path="/postgres")), autocommit=True, connect_timeout=2
        )
    except psycopg.OperationalError:
        yield None
        return
    with server:
        server.execute(f'CREATE DATABASE "{name}"')
        try:
            with psycopg.connect(urlunsplit(url._replace(path=f"/{name}")), autocommit=True) as connection:
                yield connection
        finally:
            server.execute(f'DROP DATABASE "{name}"')


def measure(size: int, options: argparse.Namespace, folder: Path, postgresql) -> dict:
    """Fill every engine with `size` records, then ask all of them the same questions in turn."""
    from bench import latency_peers as peers  # noqa: PLC0415  settings come first
    from bench.latency_data import Record, questions, records  # noqa: PLC0415
    from common.companies.models import Company  # noqa: PLC0415

    library = records(size)
    ours = peers.Ours(Company.objects.create(slug=f"bench-{size}", name="Bench"))
    engines = [ours, peers.Fts5(folder / f"fts5-{size}.sqlite3")]
    engines += [peers.TsRank(postgresql)] if postgresql else []
    engines += [peers.Bm25s()] if peers.bm25s else []
    fills = {}
    for engine in engines:
        started = time.perf_counter()
        engine.fill(library)
        fills[engine.name] = time.perf_counter() - started
    before = _resident()
    ours.load()
    grown = _resident() - before
    times: dict[str, list[float]] = {engine.name: [] for engine in engines}
    asked = questions(library, options.questions)
    for turn in range(options.rounds + 1):
        for engine in engines:
            took = [_timed(engine.prepare(question)) for question in asked]
            times[engine.name] += took if turn else []  # the first round warms up
    new = Record("zzzz yyyy", "a lesson written just now", ["zzzz/yyyy.py"])
    peers.index_objects(company=ours.company, kind=peers.KIND, entries=[peers.entry(size + 1, new)])
    ask = ours.prepare(peers.Question(["zzzz"], []))
    started = time.perf_counter()
    seen = ask() == [size + 1]
    visible = time.perf_counter() - started
    return {
        "size": size,
        "fills": fills,
        "ours": ours.times,
        "megabytes": ours.megabytes,
        "resident": grown,
        "times": {name: sorted(own) for name, own in times.items()},
        "visible": visible if seen else None,
    }


def _timed(ask) -> float:
    started = time.perf_counter()
    ask()
    return time.perf_counter() - started


def _resident() -> float:
    return psutil.Process().memory_info().rss / 1e6


def report(runs: list[dict], missed: list[str], check: bool) -> int:
    """Print the tables; 1 with `check` when a target is missed."""
    for run in runs:
        _print_run(run)
    large = runs[-1]
    own = statistics.median(large["times"]["ours"])
    for name, target in FASTER.items():
        if name in large["times"]:
            ratio = statistics.median(large["times"][name]) / own
            missed += _told(f"faster than {name}", ratio, target, at_least=True)
    growth = own / statistics.median(runs[0]["times"]["ours"])
    missed += _told(f"growth from {runs[0]['size']:,} records", growth, GROWTH)
    missed += _told("index in memory, MB", large["megabytes"], MEGABYTES)
    if "bm25s" in large["fills"]:
        missed += _told("ingest beside bm25s", large["fills"]["ours"] / large["fills"]["bm25s"], INGEST)
    else:
        print("bm25s is left out: it is not installed (pip install bm25s)")
    if "PostgreSQL ts_rank" not in large["times"]:
        print("PostgreSQL is left out: no server answers (TEST_DATABASE_URL)")
    if large["visible"] is None:
        missed.append("a new record was not found")
    return 1 if missed and check else 0


def _print_run(run: dict) -> None:
    print(f"\n{run['size']:,} records")
    print(f"{'engine':<24}{'p50 ms':>9}{'p95 ms':>9}{'p50 / ours':>12}{'p95 / ours':>12}{'indexing s':>12}")
    own50, own95 = _percentile(run["times"]["ours"], 50), _percentile(run["times"]["ours"], 95)
    for name, times in run["times"].items():
        p50, p95 = _percentile(times, 50), _percentile(times, 95)
        print(
            f"{name:<24}{p50 * 1000:>9.2f}{p95 * 1000:>9.2f}{p50 / own50:>12.1f}{p95 / own95:>12.1f}"
            f"{run['fills'][name]:>12.1f}"
        )
    parts = "  ".join(f"{name} {seconds:.1f} s" for name, seconds in run["ours"].items())
    seen = "not found" if run["visible"] is None else f"{run['visible'] * 1000:.1f} ms"
    print(f"ours: {parts}; index {run['megabytes']:.0f} MB (process grew by {run['resident']:.0f} MB)")
    print(f"ours: a new record, found by the next question: {seen}")


def _percentile(times: list[float], percent: int) -> float:
    return times[min(len(times) * percent // 100, len(times) - 1)]


def _told(what: str, value: float, target: float, at_least: bool = False) -> list[str]:
    met = value >= target if at_least else value <= target
    sign = ">=" if at_least else "<="
    print(f"{what}: {value:.1f} (target {sign} {target:g}){'' if met else '  missed'}")
    return [] if met else [what]


if __name__ == "__main__":
    sys.exit(main())
