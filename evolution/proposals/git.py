"""A git repository that only Fieldbook writes: argument lists, nobody's configuration, no hooks, no filters."""

from __future__ import annotations

import fcntl
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
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
    "-c", "protocol.allow=never",
    "-c", "gc.auto=0",
)  # fmt: skip
# git takes these away at both ends of a name, and refuses a name of which nothing is left.
_CRUD = " .,:;<>\"\\'\t\n\r"


class GitError(Exception):
    """git refused; the text is what it said."""


class Repository:
    """One folder with its own repository; files are written below it, never above or through links.

    Commits are made of the given texts byte for byte: attributes, filters and line-end settings, which a
    document named `.gitattributes` could bring along, are never asked.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def lock(self) -> Iterator[bool]:
        """Hold the repository against other workers of this machine; False when one has it. Errors: OSError."""
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        with (self.folder.parent / f".{self.folder.name}.lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            yield True

    def prepare(self) -> None:
        """Make the folder and the repository if they are missing. Errors: GitError, OSError."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if not (self.folder / ".git").is_dir():
            self._git("init", "--quiet", "--initial-branch=main", "--template=")

    def commit(self, files: Mapping[str, str], message: str, author: str, at: datetime) -> str | None:
        """Make the work tree exactly `files` (path -> text) and commit it; the sha, or None when nothing differs.

        When git refuses, the files stay in the work tree. Errors: GitError, OSError.
        """
        self._write(files)
        paths = sorted(files)
        listed = "".join(f"{path}\n" for path in paths)
        blobs = self._git("hash-object", "-w", "--no-filters", "--stdin-paths", text=listed).split()
        entries = "".join(f"100644 {blob}\t{path}\0" for blob, path in zip(blobs, paths, strict=True))
        self._git("read-tree", "--empty")
        self._git("update-index", "-z", "--index-info", text=entries)
        tree = self._git("write-tree").strip()
        head = self._resolved("HEAD")
        if head and self._resolved("HEAD^{tree}") == tree:
            return None
        parents = ("-p", head) if head else ()
        sha = self._git(
            "commit-tree", tree, *parents, "-F", "-", text=message, env=_identity(author, at)
        ).strip()
        self._git("update-ref", "HEAD", sha, head or "0" * 40)
        return sha

    def _write(self, files: Mapping[str, str]) -> None:
        wanted = {self._inside(path): text for path, text in files.items()}
        for existing in self._tracked():
            if existing not in wanted:
                existing.unlink(missing_ok=True)
                self._remove_empty(existing.parent)
        for path, text in wanted.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            data = text.encode()
            if path.is_symlink():
                path.unlink()
            if not path.exists() or path.read_bytes() != data:
                path.write_bytes(data)

    def _remove_empty(self, folder: Path) -> None:
        root = self.folder.resolve()
        while folder != root and root in folder.parents and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
            folder = folder.parent

    def _inside(self, path: str) -> Path:
        root = self.folder.resolve()
        target = (root / path).parent.resolve() / Path(path).name
        hidden = any(part.casefold() == ".git" for part in Path(path).parts)
        if root not in target.parents or hidden:
            raise GitError(f"{path} lies outside the repository")
        return target

    def _tracked(self) -> list[Path]:
        names = self._git("ls-files", "-z").split("\0")
        return [self._inside(name) for name in names if name]

    def _resolved(self, name: str) -> str:
        """The object that a name stands for; empty when there is none."""
        try:
            return self._git("rev-parse", "--verify", "--quiet", "--end-of-options", name).strip()
        except GitError:
            return ""

    def _git(self, *arguments: str, text: str = "", env: Mapping[str, str] | None = None) -> str:
        command = ["git", "--no-pager", "-c", f"safe.directory={self.folder.resolve()}", *_SAFE, *arguments]
        environment = {"PATH": os.environ.get("PATH", os.defpath), **_ENVIRONMENT, **(env or {})}
        try:
            done = subprocess.run(  # noqa: S603  a fixed program with an argument list
                command,
                cwd=self.folder,
                env=environment,
                input=text.encode(),
                capture_output=True,
                timeout=TIMEOUT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise GitError(f"git {arguments[0]} took more than {TIMEOUT_SECONDS} s") from error
        if done.returncode:
            told = done.stderr.decode(errors="replace").strip()[:2000]
            raise GitError(told or f"git {arguments[0]} failed")
        return done.stdout.decode(errors="replace")


def _identity(author: str, at: datetime) -> dict[str, str]:
    plain = "".join(sign for sign in author if sign.isprintable() and sign not in "<>").strip(_CRUD)
    date = at.isoformat()
    return {
        "GIT_AUTHOR_NAME": plain or "Fieldbook",
        "GIT_AUTHOR_EMAIL": "",
        "GIT_AUTHOR_DATE": date,
        "GIT_COMMITTER_NAME": "Fieldbook",
        "GIT_COMMITTER_EMAIL": "",
        "GIT_COMMITTER_DATE": date,
    }
