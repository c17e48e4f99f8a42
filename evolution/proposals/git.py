"""A git repository that only Fieldbook writes: argument lists, nobody's configuration, no hooks."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

TIMEOUT_SECONDS = 30
_ENVIRONMENT = {
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C.UTF-8",
}
_SAFE = (
    "-c", "core.hooksPath=/dev/null",
    "-c", "core.fsmonitor=false",
    "-c", "core.quotepath=false",
    "-c", "core.autocrlf=false",
    "-c", "core.attributesFile=/dev/null",
    "-c", "commit.gpgSign=false",
    "-c", "protocol.allow=never",
    "-c", "gc.auto=0",
)  # fmt: skip


class GitError(Exception):
    """git refused; the text is what it said."""


class Repository:
    """One folder with its own repository; `files` are written below it, never above or through links."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def prepare(self) -> None:
        """Make the folder and the repository if they are missing. Errors: GitError, OSError."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if not (self.folder / ".git").is_dir():
            self._git("init", "--quiet", "--initial-branch=main", "--template=")

    def commit(self, files: Mapping[str, str], message: str, author: str) -> str | None:
        """Make the work tree exactly `files` (path -> text) and commit it; the sha, or None when nothing differs."""
        self._write(files)
        self._git("add", "--all", "--force", "--", ".")
        if not self._git("status", "--porcelain", "--untracked-files=no").strip():
            return None
        name = author.replace("<", "").replace(">", "").replace("\n", " ").strip() or "Fieldbook"
        identity = {
            "GIT_AUTHOR_NAME": name,
            "GIT_AUTHOR_EMAIL": "",
            "GIT_COMMITTER_NAME": "Fieldbook",
            "GIT_COMMITTER_EMAIL": "",
        }
        self._git(
            "commit", "--quiet", "--no-verify", "--cleanup=verbatim", "--file=-", text=message, env=identity
        )
        return self._git("rev-parse", "HEAD").strip()

    def _write(self, files: Mapping[str, str]) -> None:
        wanted = {self._inside(path): text for path, text in files.items()}
        for existing in self._tracked():
            if existing not in wanted:
                existing.unlink(missing_ok=True)
        for path, text in wanted.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            data = text.encode()
            if path.is_symlink():
                path.unlink()
            if not path.exists() or path.read_bytes() != data:
                path.write_bytes(data)

    def _inside(self, path: str) -> Path:
        root = self.folder.resolve()
        target = (root / path).parent.resolve() / Path(path).name
        if root not in target.parents or ".git" in Path(path).parts:
            raise GitError(f"{path} lies outside the repository")
        return target

    def _tracked(self) -> list[Path]:
        names = self._git("ls-files", "-z").split("\0")
        return [self.folder.resolve() / name for name in names if name]

    def _git(self, *arguments: str, text: str | None = None, env: Mapping[str, str] | None = None) -> str:
        command = ["git", "--no-pager", "-c", f"safe.directory={self.folder.resolve()}", *_SAFE, *arguments]
        environment = {"PATH": os.environ.get("PATH", os.defpath), **_ENVIRONMENT, **(env or {})}
        try:
            done = subprocess.run(  # noqa: S603  a fixed program with an argument list
                command,
                cwd=self.folder,
                env=environment,
                input=None if text is None else text.encode(),
                capture_output=True,
                timeout=TIMEOUT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise GitError(f"git {arguments[0]} took more than {TIMEOUT_SECONDS} s") from error
        if done.returncode:
            raise GitError(
                done.stderr.decode(errors="replace").strip()[:2000] or f"git {arguments[0]} failed"
            )
        return done.stdout.decode(errors="replace")
