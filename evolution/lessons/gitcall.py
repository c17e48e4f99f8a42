"""One call of git on a repository that nobody vouches for: nothing in it is run, nothing is written.

git gets an argument list, no shell, a bare environment, no configuration of users or hosts, and options
against what the repository's own configuration could name (signature programs, monitors, hooks, external
diffs, pagers, remotes). Time and output are bounded. docs/rules.md: reading git.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_CHUNK = 1 << 16
#: Against what a repository's own configuration could make git do, or make it say otherwise.
_CONFIGURATION = (
    "log.showSignature=false",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.quotepath=off",
    "core.commitGraph=false",
    "core.pager=cat",
    "protocol.allow=never",
    "diff.external=",
    "i18n.logOutputEncoding=UTF-8",
)


@dataclass(frozen=True)
class GitLimits:
    """Bounds of one call of git. docs/rules.md: reading git."""

    seconds: float = 10.0
    max_bytes: int = 20 * 1024 * 1024


class CallFailedError(Exception):
    """git ended with an error, took too long, or said too much."""


def run_git(path: Path, command: Sequence[str], stdin: bytes, limits: GitLimits) -> bytes:
    """What a command of git writes about the repository at `path`. Raises `CallFailedError`."""
    options = [part for setting in _CONFIGURATION for part in ("-c", setting)]
    safe = ["-c", f"safe.directory={path}"]
    call = ["git", "-C", str(path), "--no-pager", *safe, *options, *command]
    return _bounded_output(call, _environment(path), stdin, limits)


def _environment(path: Path) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        # A folder inside some other repository is not a repository.
        "GIT_CEILING_DIRECTORIES": str(path.parent),
    }


def _bounded_output(
    call: Sequence[str], environment: dict[str, str], stdin: bytes, limits: GitLimits
) -> bytes:
    """What the program writes. Raises `CallFailedError` on an exit code, and kills it at either limit."""
    deadline = time.monotonic() + limits.seconds
    chunks: list[bytes] = []
    size = 0
    with subprocess.Popen(  # noqa: S603
        call, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process, selectors.DefaultSelector() as ready:  # fmt: skip
        assert process.stdin and process.stdout
        try:
            _feed(process.stdin, stdin)
            ready.register(process.stdout, selectors.EVENT_READ)
            while True:
                left = deadline - time.monotonic()
                if left <= 0 or not ready.select(left):
                    raise CallFailedError
                chunk = os.read(process.stdout.fileno(), _CHUNK)
                if not chunk:
                    break
                size += len(chunk)
                if size > limits.max_bytes:
                    raise CallFailedError
                chunks.append(chunk)
            code = process.wait(max(deadline - time.monotonic(), 0.1))
        except (CallFailedError, subprocess.TimeoutExpired):
            # The whole group, in case git started another program.
            os.killpg(process.pid, signal.SIGKILL)
            raise CallFailedError from None
    if code:
        raise CallFailedError
    return b"".join(chunks)


def _feed(pipe: object, data: bytes) -> None:
    """Writes the names (a few kilobytes: less than a pipe holds) and closes; git may have ended already."""
    try:
        pipe.write(data)  # type: ignore[attr-defined]
        pipe.close()  # type: ignore[attr-defined]
    except BrokenPipeError:
        pass
