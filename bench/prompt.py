"""`make bench-prompt`: the prompt endpoint beside a plain DRF view and a bare WSGI application, in one run."""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import secrets
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psutil
import psycopg

from bench.load import requests_per_second, tool

ROOT = Path(__file__).resolve().parent.parent
POSTGRES_URL = "postgres://postgres@127.0.0.1:5432/fieldbook"
WORKERS, THREADS = 2, 4
START_SECONDS = 40.0
#: The application's code can be imported only after its settings.
SETUP = "import django; django.setup(); from bench.prompt_data import main; main()"
PLAIN = "plain DRF view, SQLite"
STRIPPED = "plain DRF view without middleware and authentication, kept connection"
BARE = "bare WSGI application"
AGENTS_PATH = "/api/v1/agents/{agent}/prompt"


@dataclass(frozen=True)
class Server:
    """A running gunicorn."""

    port: int
    process: psutil.Process

    def cpu_seconds(self) -> float:
        """What its workers have used since they started."""
        times = [worker.cpu_times() for worker in self.process.children()]
        return sum(used.user + used.system for used in times)


@dataclass
class Contender:
    """One row of the table: a request against a server, the rates seen so far, and the cost of a request."""

    name: str
    server: Server
    path: str
    headers: dict[str, str]
    status: int = 200
    rates: list[float] = field(default_factory=list)
    cpu_us: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        return statistics.median(self.rates)

    def measure(self, seconds: float) -> None:
        used = self.server.cpu_seconds()
        rate = requests_per_second(self.server.port, self.path, self.headers, self.status, seconds)
        self.rates.append(rate)
        self.cpu_us.append((self.server.cpu_seconds() - used) / (rate * seconds) * 1_000_000)


def main() -> int:
    options = _options()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fieldbook-bench-")))
        contenders, render_ms = _start_ours(stack, folder)
        contenders += _start_peers(stack, folder, contenders[0])
        for contender in contenders:
            _warm(contender)
        for _round in range(options.rounds):
            for contender in contenders:
                contender.measure(options.seconds)
    return _report(contenders, render_ms, options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="alternating rounds (5)")
    parser.add_argument("--seconds", type=int, default=1, help="load per contender and round (1)")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a target is missed")
    return parser.parse_args()


def _start_ours(stack: contextlib.ExitStack, folder: Path) -> tuple[list[Contender], dict[str, float]]:
    databases = {"SQLite": f"sqlite:///{folder / 'ours.sqlite3'}"}
    postgres = stack.enter_context(_postgres_database())
    if postgres:
        databases["PostgreSQL"] = postgres
    contenders, render_ms = [], {}
    for name, url in databases.items():
        environment = _environment(folder, name, DATABASE_URL=url)
        data = _prepared(environment)
        render_ms[name] = data["render_ms"]
        server = stack.enter_context(_server("config.wsgi:application", environment))
        path = AGENTS_PATH.format(agent=data["agent"])
        plain = {"Authorization": f"Bearer {data['key']}", "Accept": "text/plain"}
        tag, _text = _answer(server.port, path, plain)
        contenders += [
            Contender(f"ours, {name}", server, path, plain),
            Contender(f"ours, {name}, 304", server, path, plain | {"If-None-Match": tag}, status=304),
        ]
    return contenders, render_ms


def _start_peers(stack: contextlib.ExitStack, folder: Path, ours: Contender) -> list[Contender]:
    """The peers serve the text that ours serves, to the same request."""
    _tag, text = _answer(ours.server.port, ours.path, ours.headers)
    (folder / "text").write_text(text, encoding="utf-8")
    files = {"BENCH_TEXT": str(folder / "text"), "BENCH_PLAIN_DB": str(folder / "plain.sqlite3")}
    environment = _environment(folder, "peers", **files)
    make = "from bench.plain import make_database; make_database()"
    subprocess.run([sys.executable, "-c", make], env=environment, cwd=ROOT, check=True)
    stripped = environment | {"BENCH_STRIPPED": "yes"}
    headers = {"Authorization": ours.headers["Authorization"], "Accept": "*/*"}
    peers = [
        (PLAIN, "bench.plain:application", environment, "/prompts/50"),
        (STRIPPED, "bench.plain:application", stripped, "/prompts/50"),
        (BARE, "bench.peers:bare", environment, "/"),
    ]
    return [
        Contender(name, stack.enter_context(_server(application, variables)), path, headers)
        for name, application, variables, path in peers
    ]


def _environment(folder: Path, name: str, **more: str) -> dict[str, str]:
    metrics = folder / f"metrics-{name}"
    metrics.mkdir()
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings.local",
        "PROMETHEUS_MULTIPROC_DIR": str(metrics),
        "PYTHONPATH": str(ROOT),
        **more,
    }


@contextlib.contextmanager
def _postgres_database() -> Iterator[str | None]:
    """A database of its own on the server of TEST_DATABASE_URL; None when that does not answer."""
    parts = urlsplit(os.environ.get("TEST_DATABASE_URL", POSTGRES_URL))
    name = f"fieldbook_bench_{secrets.token_hex(4)}"
    admin = urlunsplit(parts._replace(scheme="postgresql", path="/postgres"))
    try:
        with psycopg.connect(admin, connect_timeout=3, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
    except psycopg.Error as error:
        print(f"PostgreSQL is left out: {str(error).strip().splitlines()[-1]}")
        yield None
        return
    try:
        yield urlunsplit(parts._replace(path=f"/{name}"))
    finally:
        with psycopg.connect(admin, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _prepared(environment: dict[str, str]) -> dict:
    done = subprocess.run(
        [sys.executable, "-c", SETUP],
        env=environment,
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


@contextlib.contextmanager
def _server(application: str, environment: dict[str, str]) -> Iterator[Server]:
    """gunicorn with the application's own configuration, on a free port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "gunicorn", "--config", "gunicorn.conf.py", application]
    command += ["--bind", f"127.0.0.1:{port}", "--workers", str(WORKERS), "--threads", str(THREADS)]
    command += ["--reuse-port", "--log-level", "warning"]
    process = subprocess.Popen(command, env=environment, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    try:
        if not _answers(port, process):
            process.terminate()
            raise RuntimeError(f"{application} did not start:\n{process.communicate()[1][-2000:]}")
        # What a server writes from here on is thrown away: a full pipe would stop it.
        threading.Thread(target=lambda: deque(process.stderr, maxlen=0), daemon=True).start()
        yield Server(port, psutil.Process(process.pid))
    finally:
        process.terminate()
        process.wait(30)


def _answers(port: int, process: subprocess.Popen) -> bool:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            connection.request("GET", "/")
            connection.getresponse().read()
            connection.close()
            return True
        time.sleep(0.1)
    return False


def _answer(port: int, path: str, headers: dict[str, str], status: int = 200) -> tuple[str, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        body = response.read().decode()
        if response.status != status:
            raise RuntimeError(f"{path} answered {response.status}: {body[:300]}")
        return response.headers.get("ETag", ""), body
    finally:
        connection.close()


def _warm(contender: Contender) -> None:
    """Both workers have loaded and answered before anything is measured."""
    for _request in range(20):
        _answer(contender.server.port, contender.path, contender.headers, contender.status)
    requests_per_second(contender.server.port, contender.path, contender.headers, contender.status, 1)


def _report(contenders: list[Contender], render_ms: dict[str, float], options: argparse.Namespace) -> int:
    rates = {contender.name: contender.rate for contender in contenders}
    print(
        f"{options.rounds} alternating rounds of {options.seconds:g} s, load by {tool()}; {os.cpu_count()} processors"
    )
    print(
        "\n| server | requests/s (median) | range | to plain DRF | to bare WSGI | CPU of the server a request |"
    )
    print("|---|---|---|---|---|---|")
    for contender in contenders:
        low, high = min(contender.rates), max(contender.rates)
        to_plain, to_bare = contender.rate / rates[PLAIN], contender.rate / rates[BARE]
        print(
            f"| {contender.name} | {contender.rate:,.0f} | {low:,.0f} – {high:,.0f} "
            f"| {to_plain:.2f} × | {to_bare:.0%} | {statistics.median(contender.cpu_us):.0f} µs |"
        )
    print("\n| rendering 1,000 experiences | ms (median) |\n|---|---|")
    for name, milliseconds in render_ms.items():
        print(f"| {name} | {milliseconds:.1f} |")
    targets = _targets(rates, render_ms)
    print()
    for text, is_met in targets:
        print(f"{'met   ' if is_met else 'MISSED'}  {text}")
    return 1 if options.check and not all(is_met for _text, is_met in targets) else 0


def _targets(rates: dict[str, float], render_ms: dict[str, float]) -> list[tuple[str, bool]]:
    found = []
    for name in render_ms:
        ours, known = rates[f"ours, {name}"], rates[f"ours, {name}, 304"]
        found += [
            (
                f"{name}: a fetch is at least 4 × a plain DRF view ({ours / rates[PLAIN]:.2f} ×)",
                ours >= 4 * rates[PLAIN],
            ),
            (f"{name}: at least 70 % of bare WSGI ({ours / rates[BARE]:.0%})", ours >= 0.7 * rates[BARE]),
            # The two do the same work but for sending 4 KB, so the noise of the machine is allowed for.
            (f"{name}: 304 is at least as fast ({known / ours:.2f} ×)", known >= 0.95 * ours),
            (
                f"{name}: 1,000 experiences render in at most 40 ms ({render_ms[name]:.1f} ms)",
                render_ms[name] <= 40,
            ),
        ]
    return found


if __name__ == "__main__":
    sys.exit(main())
