"""`make bench-capture`: `capture_lessons` over a history of 26,000 commits beside git's own log of it, in one run."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import psutil

from bench.capture_data import ENVIRONMENT, make_history

ROOT = Path(__file__).resolve().parent.parent
SECONDS, MEGABYTES, AGAIN = 60.0, 300.0, 2.0
PEER = ["log", "--raw", "-M", "-l400", "-z", "--root"]


def main() -> int:
    options = _options()
    runs = []
    with tempfile.TemporaryDirectory(prefix="fieldbook-bench-") as folder:
        history = make_history(Path(folder) / "history.git", options.commits)
        for number in range(options.rounds):
            environment = _environment(Path(folder) / f"round-{number}.sqlite3")
            log = _peer(history)
            first = _scan(history, options.commits, environment)
            runs.append({"log": log, "first": first, "again": _scan(history, options.commits, environment)})
            if first["left"] or first["scanned"] != options.commits:
                raise SystemExit(f"not all of the history was read: {first}")
    return _report(runs, options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commits", type=int, default=26_000, help="length of the history (26,000)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds, each with an empty database (3)")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a target is missed")
    return parser.parse_args()


def _environment(database: Path) -> dict[str, str]:
    environment = {
        **os.environ,
        "DATABASE_URL": f"sqlite:///{database}",
        "DJANGO_SETTINGS_MODULE": "config.settings.test",
    }
    call = [sys.executable, "manage.py", "migrate", "--verbosity=0"]
    subprocess.run(call, env=environment, cwd=ROOT, check=True)
    return environment


def _peer(history: Path) -> float:
    """Processor seconds of git alone for the same commits with their files."""
    with subprocess.Popen(
        ["git", "-C", str(history), *PEER], env=ENVIRONMENT, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        while process.stdout.read(1 << 20):
            pass
        _pid, _status, used = os.wait4(process.pid, 0)
        process.returncode = 0
    return used.ru_utime + used.ru_stime


def _scan(history: Path, commits: int, environment: dict[str, str]) -> dict:
    """What one call of the command took; `together` is the peak of its memory with git's."""
    call = [sys.executable, "-m", "bench.capture_run", str(history), str(commits)]
    with subprocess.Popen(call, env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        peaks = [0.0]
        ended = threading.Event()
        watcher = threading.Thread(target=_watch, args=(process.pid, peaks, ended))
        watcher.start()
        out, _none = process.communicate()
        ended.set()
        watcher.join()
    if process.returncode:
        raise SystemExit("capture_lessons failed")
    return json.loads(out.splitlines()[-1]) | {"together": max(peaks)}


def _watch(pid: int, peaks: list[float], ended: threading.Event) -> None:
    """Megabytes of a process and its children, ten times a second."""
    while not ended.wait(0.1):
        try:
            parent = psutil.Process(pid)
            family = [parent, *parent.children(recursive=True)]
            peaks.append(sum(each.memory_info().rss for each in family) / 1e6)
        except psutil.NoSuchProcess:
            continue


def _report(runs: list[dict], options: argparse.Namespace) -> int:
    log = statistics.median(run["log"] for run in runs)
    print(
        f"{options.commits:,} commits, {runs[0]['first']['lessons']:,} drafts; medians of {len(runs)} rounds\n"
    )
    print("| | processor s | to git log | elapsed s | peak MB | with git MB |\n|---|---|---|---|---|---|")
    print(f"| git log of the same commits | {log:.1f} | 1.0 × | | | |")
    seen = {}
    for name, key in (("first run", "first"), ("second run", "again")):
        seen[key] = {
            part: statistics.median(run[key][part] for run in runs)
            for part in ("cpu", "seconds", "megabytes", "together")
        }
        one = seen[key]
        print(
            f"| {name} | {one['cpu']:.1f} | {one['cpu'] / log:.1f} × | {one['seconds']:.1f} "
            f"| {one['megabytes']:.0f} | {one['together']:.0f} |"
        )
    print()
    targets = [
        (f"first run: at most {SECONDS:g} s of a processor", seen["first"]["cpu"] <= SECONDS),
        (f"first run: at most {MEGABYTES:g} MB with git", seen["first"]["together"] <= MEGABYTES),
        (f"second run: at most {AGAIN:g} s", seen["again"]["seconds"] <= AGAIN),
    ]
    for text, is_met in targets:
        print(f"{'met   ' if is_met else 'MISSED'}  {text}")
    return 1 if options.check and not all(is_met for _text, is_met in targets) else 0


if __name__ == "__main__":
    sys.exit(main())
