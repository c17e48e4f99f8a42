"""`make run`: web server and worker live and die together, and nothing is left behind."""

import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading

import psutil
import pytest

from tests.house.scripts import ROOT, load_script

serve = load_script("serve")
FOREVER = "import signal; signal.pause()"


def start(code, name="part"):
    return serve.start(name, [sys.executable, "-c", code], os.environ)


def watch(parts, stopping=None, is_ready=lambda: False, on_ready=lambda: None):
    return serve.watch(parts, stopping or threading.Event(), is_ready, on_ready)


@pytest.fixture
def stop_all():
    parts = []
    yield parts
    serve.stop(parts, threading.Event(), seconds=5)


@pytest.mark.parametrize(
    ("ending", "expected"),
    [
        ("raise SystemExit(7)", 7),
        ("pass", 0),
        ("import os; os.kill(os.getpid(), 9)", 128 + 9),
    ],
)
def test_when_one_part_ends_its_exit_code_is_the_answer(stop_all, ending, expected):
    stop_all += [start(FOREVER, "web server"), start(ending, "worker")]
    assert watch(stop_all) == expected


def test_stopping_ends_every_part():
    parts = [start(FOREVER), start(FOREVER)]
    serve.stop(parts, threading.Event(), seconds=5)
    assert [part.process.returncode for part in parts] == [-signal.SIGTERM, -signal.SIGTERM]


def test_a_part_that_ignores_the_request_to_stop_is_ended_all_the_same(tmp_path):
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    part = start(
        f"import signal; signal.signal(15, signal.SIG_IGN); open({str(ready)!r}, 'w').close(); signal.pause()"
    )
    ready.open().close()
    force = threading.Event()
    force.set()
    serve.stop([part], force, seconds=60)
    assert part.process.returncode == -signal.SIGKILL


def test_what_a_killed_part_leaves_behind_is_ended_too(tmp_path):
    channel = tmp_path / "channel"
    os.mkfifo(channel)
    part = start(
        f"import subprocess, sys, signal; child = subprocess.Popen([sys.executable, '-c', {FOREVER!r}]);"
        f"open({str(channel)!r}, 'w').write(str(child.pid)); signal.pause()"
    )
    grandchild = psutil.Process(int(channel.read_text()))
    part.process.kill()
    part.process.wait()
    assert grandchild.is_running()
    serve.stop([part], threading.Event(), seconds=5)
    psutil.wait_procs([grandchild], timeout=5)
    assert not grandchild.is_running() or grandchild.status() == psutil.STATUS_ZOMBIE


@pytest.mark.skipif(sys.platform != "linux", reason="a system call of Linux")
def test_parts_end_when_the_supervisor_is_killed():
    driver = f"""
        import os, sys
        sys.path.insert(0, {str(ROOT)!r})
        from tests.house.scripts import load_script
        serve = load_script("serve")
        serve.start("part", [sys.executable, "-c", "print('up', flush=True); {FOREVER}"], os.environ)
        import signal; signal.pause()
    """
    command = [sys.executable, "-c", textwrap.dedent(driver)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as supervisor:
        assert supervisor.stdout.readline() == "up\n"
        supervisor.kill()
        # The part holds the other end of this pipe: it closes only when the part is gone.
        assert supervisor.stdout.read() == ""


def test_readiness_is_announced_once(stop_all):
    stop_all += [start(FOREVER)]
    stopping, said = threading.Event(), []
    asked = iter([False, True])

    def on_ready():
        said.append("ready")
        stopping.set()

    assert watch(stop_all, stopping, lambda: next(asked), on_ready) == 0
    assert said == ["ready"]


def test_a_taken_port_gives_way_to_the_next_free_one():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert serve.free_port(port) > port
    assert serve.free_port(port) == port


@pytest.mark.parametrize("port", ["", "8000"])
def test_the_port_is_8000_unless_named(port):
    assert serve.wanted_port({"PORT": port}) == 8000


@pytest.mark.parametrize("port", ["http", "0", "65536", "-1", "80 80"])
def test_an_impossible_port_is_named_in_the_message(port):
    with pytest.raises(SystemExit, match="PORT must be a number from 1 to 65535"):
        serve.wanted_port({"PORT": port})


def test_a_second_start_from_one_folder_is_refused(tmp_path):
    with serve.only_one(tmp_path), pytest.raises(SystemExit, match="already runs"):
        serve.only_one(tmp_path)
    serve.only_one(tmp_path).close()
