"""The whole of `make run` in a fresh copy: tables, demo data, two processes, a working curl, a clean end."""

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request

import psutil
import pytest

from tests.house.scripts import ROOT

NOT_NEEDED = shutil.ignore_patterns(".*", "var", "tests", "bench", "docs", "staticfiles", "__pycache__")
#: The copy must find its own defaults, not those of the test run around it.
OF_THIS_RUN = {
    "DATABASE_URL",
    "DJANGO_SETTINGS_MODULE",
    "BROKER_URL",
    "CACHE_URL",
    "PORT",
    "CELERY_TASK_ALWAYS_EAGER",
}


@pytest.fixture
def running(tmp_path):
    """Its folder, its process, and the lines printed until it was ready."""
    house = tmp_path / "house"
    shutil.copytree(ROOT, house, ignore=NOT_NEEDED)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = str(probe.getsockname()[1])
    environment = {name: value for name, value in os.environ.items() if name not in OF_THIS_RUN}
    process = subprocess.Popen(
        [sys.executable, "bin/serve"],
        cwd=house,
        env={**environment, "PORT": port},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    lines = []
    try:
        for line in process.stdout:
            lines.append(line.rstrip("\n"))
            if "Ctrl-C stops" in line:
                break
        yield house, process, lines
    finally:
        process.terminate()
        process.communicate(timeout=60)


def curl(line):
    """What curl would fetch: the answer's status and text. Only the options that the printed line may use."""
    words = shlex.split(line)[1:]
    headers = dict(words[i + 1].split(": ", 1) for i, word in enumerate(words) if word in ("-H", "--header"))
    url = next(word for word in words if word.startswith("http://127.0.0.1"))
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=10) as response:
        return response.status, response.read().decode()


def processes_in(folder):
    """Every living process that works in `folder`, whoever its parent is now."""
    return [process for process in psutil.process_iter(["cwd"]) if process.info["cwd"] == str(folder)]


@pytest.mark.skipif(
    os.environ.get("DATABASE_URL", "").startswith("postgres"),
    reason="the embedded profile is on SQLite anyway",
)
@pytest.mark.timeout(300)
def test_a_fresh_copy_serves_its_demo_data_and_stops_without_a_trace(running):
    house, process, lines = running
    printed = "\n".join(lines)
    assert "Fieldbook is ready." in lines, printed
    (command,) = [line.strip() for line in lines if line.strip().startswith("curl ")]
    status, answer = curl(command)
    assert status == 200
    assert "## " in answer
    address = re.search(r"http://127\.0\.0\.1:\d+", printed).group()
    with urllib.request.urlopen(f"{address}/admin/login/", timeout=10) as response:
        assert response.status == 200
    readable_by_others = [path for path in (house / "var").rglob("*") if path.stat().st_mode & 0o077]
    assert readable_by_others == []
    assert len(processes_in(house)) >= 4, "the supervisor, the web server with its worker, the Celery worker"
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 0
    assert processes_in(house) == []
