"""Requests a second of a server on this machine: by wrk, or by threads with raw sockets where it is missing."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Mapping

#: Enough for both workers to be busy, however the kernel spreads connections over them.
CONNECTIONS = 32
_RATE = re.compile(r"Requests/sec:\s*([\d.]+)")
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


def tool() -> str:
    """Which generator a run uses."""
    return "wrk" if shutil.which("wrk") else "the Python generator"


def requests_per_second(port: int, path: str, headers: Mapping[str, str], status: int, seconds: int) -> float:
    """Load for `seconds`; raises RuntimeError when any answer has another status."""
    if shutil.which("wrk"):
        return _wrk(port, path, headers, seconds)
    return _python(port, path, headers, status, seconds)


def _wrk(port: int, path: str, headers: Mapping[str, str], seconds: int) -> float:
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s"]
    for name, value in headers.items():
        command += ["-H", f"{name}: {value}"]
    command.append(f"http://127.0.0.1:{port}{path}")
    out = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 30, check=True).stdout
    if "Non-2xx" in out or "Socket errors" in out:
        raise RuntimeError(f"{path}: {out}")
    return float(_RATE.search(out)[1])


def _python(port: int, path: str, headers: Mapping[str, str], status: int, seconds: int) -> float:
    lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", *(f"{k}: {v}" for k, v in headers.items())]
    request = ("\r\n".join(lines) + "\r\n\r\n").encode()
    end = time.monotonic() + seconds
    counts, errors = [0] * CONNECTIONS, []

    def client(number: int) -> None:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
                while time.monotonic() < end:
                    connection.sendall(request)
                    _read_answer(connection, status)
                    counts[number] += 1
        except (OSError, RuntimeError) as error:
            errors.append(error)

    threads = [threading.Thread(target=client, args=(number,)) for number in range(CONNECTIONS)]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise RuntimeError(f"{path}: {errors[0]}")
    return sum(counts) / (time.monotonic() - started)


def _read_answer(connection: socket.socket, status: int) -> None:
    data = b""
    while b"\r\n\r\n" not in data:
        data += _received(connection)
    head, _end, body = data.partition(b"\r\n\r\n")
    if not head.startswith(f"HTTP/1.1 {status} ".encode()):
        raise RuntimeError(head.split(b"\r\n")[0].decode(errors="replace"))
    length = _LENGTH.search(head)
    missing = (int(length[1]) if length and status != 304 else 0) - len(body)
    while missing > 0:
        missing -= len(_received(connection))


def _received(connection: socket.socket) -> bytes:
    data = connection.recv(65536)
    if not data:
        raise RuntimeError("the server closed the connection")
    return data
