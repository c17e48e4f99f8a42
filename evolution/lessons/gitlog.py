"""Reads the history of a repository that nobody vouches for, by the calls of `gitcall`.

Names of commits are hexadecimal or nothing. Everything that comes out is data. docs/rules.md: reading git.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from django.utils.translation import gettext_lazy as _

from common.errors import ApplicationError
from common.file_reading import display_path, read_text_file
from evolution.lessons.gitcall import CallFailedError, GitLimits, run_git
from evolution.lessons.rules.commits import ChangedFile, Commit

_SHA_RE = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_BATCH = 200
#: More places than this are those of no honest repository.
_MOST_FOLDERS = 50
_CHUNK = 1 << 16

_LOG_OPTIONS = (
    "--no-walk=unsorted",
    "--stdin",
    "--no-show-signature",
    "--no-ext-diff",
    "--no-textconv",
    "--no-notes",
    "--no-color",
    "--no-decorate",
    "--no-mailmap",
    "--no-relative",
    "--diff-merges=off",
    "--root",
    "--encoding=UTF-8",
    "-O/dev/null",
    "-M",
    "-l400",
    "-z",
    "--raw",
)
_PATCH_OPTIONS = (
    "--no-show-signature",
    "--no-ext-diff",
    "--no-textconv",
    "--no-notes",
    "--no-color",
    "--no-relative",
    "--diff-merges=first-parent",
    "--format=",
    "--patch",
    "--unified=0",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--submodule=short",
    "--encoding=UTF-8",
    "-O/dev/null",
    "-M",
    "-l400",
)
# Numbers of lines would tell binary files apart, but cost a comparison of every text of the history.
_BINARY_RE = re.compile(
    r".*\.(?:png|jpe?g|gif|webp|ico|bmp|tiff?|psd|pdf|zip|gz|bz2|xz|7z|rar|tar|tgz|jar|war|class|exe|dll|so|dylib|o|a"
    r"|wasm|bin|dat|db|sqlite3?|mp[34]|mov|avi|wav|ogg|webm|woff2?|ttf|otf|eot|pyc|docx|xlsx|pptx|parquet|npy|pkl)",
    re.IGNORECASE | re.DOTALL,
)
_SUBMODULE = "160000"


@dataclass(frozen=True)
class Step:
    """A commit of a walk: its parents, and when it was committed (seconds since 1970)."""

    sha: str
    parents: tuple[str, ...]
    committed_at: int


@dataclass(frozen=True)
class Batch:
    """The commits of one run, oldest first, the cursor to keep after it, and how many are left for later."""

    shas: list[str]
    cursor: str | None
    left: int


@dataclass
class GitRepository:
    """One repository on this machine, for reading. `unreadable` collects commits that git could not show.

    Errors: VALIDATION_ERROR when the folder is no repository, from the constructor.
    """

    path: Path
    limits: GitLimits = field(default_factory=GitLimits)
    unreadable: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.path = self.path.resolve()
        try:
            self._git_folder = Path(os.fsdecode(self._run("rev-parse", "--absolute-git-dir").rstrip(b"\n")))
        except (CallFailedError, OSError, ValueError):
            message = _("%s is not a git repository that can be read.") % display_path(self.path)
            raise ApplicationError("VALIDATION_ERROR", message) from None

    def head(self) -> str | None:
        """The commit that HEAD names; None in a repository without commits.

        Errors: VALIDATION_ERROR when HEAD names a commit that is not there.
        """
        found = self._verified("HEAD")
        if found is None:
            try:
                self._run("rev-parse", "--verify", "--quiet", "--end-of-options", "HEAD")
            except CallFailedError:
                return None
            raise self._not_walked()
        return found

    def has(self, sha: str) -> bool:
        """Whether the repository has this commit. Anything but a full hexadecimal name is not there."""
        return _SHA_RE.fullmatch(sha) is not None and self._verified(sha) == sha

    def check_has(self, sha: str) -> None:
        """Raises VALIDATION_ERROR for a commit that is not there."""
        if not self.has(sha):
            message = _("The repository has no commit %s.") % ascii(sha[:64])
            raise ApplicationError("VALIDATION_ERROR", message)

    def is_ancestor(self, sha: str, of: str) -> bool:
        """Whether commit `sha` lies in the history of commit `of`."""
        try:
            self._run("merge-base", "--is-ancestor", "--end-of-options", _checked(sha), _checked(of))
        except CallFailedError:
            return False
        return True

    @cached_property
    def boundary(self) -> frozenset[str]:
        """The commits at which a shallow clone was cut off; empty for a whole one."""
        try:
            is_shallow = self._run("rev-parse", "--is-shallow-repository").strip() == b"true"
            text = read_text_file(self._git_folder / "shallow") if is_shallow else ""
        except (CallFailedError, ApplicationError):
            return frozenset()
        return frozenset(sha for sha in text.split() if _SHA_RE.fullmatch(sha))

    @cached_property
    def folders(self) -> frozenset[Path]:
        """Every folder that git reads of it: a repository may lie elsewhere, and borrow objects of others."""
        try:
            answer = self._run("rev-parse", "--path-format=absolute", "--git-common-dir")
        except CallFailedError:
            answer = os.fsencode(self._git_folder)
        common = Path(os.fsdecode(answer.rstrip(b"\n")))
        found = {self._git_folder.resolve(), common.resolve()}
        waiting = [common / "objects"]
        while waiting and len(found) < _MOST_FOLDERS:
            objects = waiting.pop().resolve()
            if objects not in found:
                found.add(objects)
                waiting += [objects / line for line in _lines_of(objects / "info" / "alternates")]
        return frozenset(found)

    @property
    def is_shallow(self) -> bool:
        return bool(self.boundary)

    def walk(self, head: str, without: str | None = None) -> list[Step]:
        """The commits in the history of `head` and not in that of `without`, parents before children.

        Errors: VALIDATION_ERROR when git cannot walk it.
        """
        excluded = [f"^{_checked(without)}"] if without else []
        try:
            output = self._run(
                "rev-list", "--topo-order", "--reverse", "--parents", "--timestamp", "--end-of-options",
                _checked(head), *excluded, "--",
            )  # fmt: skip
        except CallFailedError:
            raise self._not_walked() from None
        lines = (line.split() for line in output.decode("ascii", "replace").splitlines())
        return [Step(line[1], tuple(line[2:]), int(line[0])) for line in lines]

    def read(self, shas: Sequence[str]) -> Iterator[Commit]:
        """The commits in the order given. One that cannot be shown is noted in `unreadable`, the rest goes on."""
        for start in range(0, len(shas), _BATCH):
            yield from self._read([_checked(sha) for sha in shas[start : start + _BATCH]])

    def patch(self, sha: str) -> str:
        """What one commit changed against its first parent, as a unified diff.

        Errors: VALIDATION_ERROR for a commit that is not there, or whose difference is too large.
        """
        self.check_has(sha)
        try:
            output = self._run("show", *_PATCH_OPTIONS, "--end-of-options", _checked(sha), "--")
        except CallFailedError:
            message = _("The difference of commit %s cannot be read.") % sha
            raise ApplicationError("VALIDATION_ERROR", message) from None
        return output.decode("utf-8", "replace").replace("\0", "\ufffd")

    def _read(self, shas: Sequence[str]) -> Iterator[Commit]:
        mark = secrets.token_hex(16)
        pattern = f"--format=tformat:%x00{mark}%x00%H%x00%P%x00%at%x00%ct%x00%B%x00{mark}%x00"
        try:
            output = self._run("log", *_LOG_OPTIONS, pattern, stdin="\n".join([*shas, ""]))
        except CallFailedError:
            # Halved until the commit that cannot be shown stands alone.
            if len(shas) == 1:
                self.unreadable.append(shas[0])
                return
            yield from self._read(shas[: len(shas) // 2])
            yield from self._read(shas[len(shas) // 2 :])
            return
        # Messages hold no NUL, so none can look like a mark.
        pieces = output.decode("utf-8", "replace").split(f"\0{mark}\0")
        for header, changes in zip(pieces[1::2], pieces[2::2], strict=False):
            yield self._commit(header, changes)

    def _commit(self, header: str, changes: str) -> Commit:
        sha, parents, authored, committed, message = header.split("\0", 4)
        subject, _newline, body = message.replace("\r\n", "\n").replace("\r", "\n").partition("\n")
        files = tuple(_changed_files(changes))
        return Commit(
            sha=sha,
            subject=subject,
            body=body.strip("\n"),
            author_date=_moment(authored),
            committer_date=_moment(committed),
            parents=tuple(parents.split()),
            files=files,
            file_count=len(files),
            is_boundary=sha in self.boundary,
        )

    def _not_walked(self) -> ApplicationError:
        message = _("The history of %s cannot be walked.") % display_path(self.path)
        return ApplicationError("VALIDATION_ERROR", message)

    def _verified(self, name: str) -> str | None:
        try:
            answer = self._run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        except CallFailedError:
            return None
        # Older versions of git repeat the option itself.
        sha = answer.decode("ascii", "replace").split()[-1:]
        return sha[0] if sha and _SHA_RE.fullmatch(sha[0]) else None

    def _run(self, command: str, *arguments: str, stdin: str = "") -> bytes:
        return run_git(self.path, (command, *arguments), stdin.encode("ascii"), self.limits)


def next_batch(steps: Sequence[Step], cursor: str | None, most: int) -> Batch:
    """The first `most` commits of a walk that began at `cursor`, cut where one commit has all before it as its
    history, so that the walk can go on from there without missing or repeating any. With parallel branches
    the batch may be longer than `most`. docs/rules.md: capture cursor.
    """
    heads = {cursor} if cursor else set()
    end = 0
    for place, step in enumerate(steps, 1):
        heads.difference_update(step.parents)
        heads.add(step.sha)
        if len(heads) == 1:
            if place > most and end:
                break
            end = place
            if end >= most:
                break
    if len(heads) > 1 and not end:  # roots that never meet
        end = len(steps)
    shas = [step.sha for step in steps[:end]]
    return Batch(shas, shas[-1] if shas else cursor, len(steps) - end)


def since(steps: Sequence[Step], moment: datetime) -> list[str]:
    """The commits of a walk that were committed at or after a moment, oldest first."""
    least = moment.timestamp()
    return [step.sha for step in steps if step.committed_at >= least]


def _checked(sha: str) -> str:
    if not _SHA_RE.fullmatch(sha):
        message = _("%s is not the full name of a commit.") % ascii(sha[:64])
        raise ApplicationError("VALIDATION_ERROR", message)
    return sha


def _changed_files(raw: str) -> Iterator[ChangedFile]:
    """The entries of `--raw -z`: `:mode mode sha sha status`, then one path, or two for a rename or a copy."""
    parts = iter(raw.lstrip("\n").split("\0"))
    for part in parts:
        head = part.lstrip("\n")
        if not head.startswith(":"):
            continue
        fields = head[1:].split(" ")
        status = fields[-1][:1]
        path = next(parts, "")
        old = ""
        if status in ("R", "C"):
            old, path = path, next(parts, "")
        if path:
            yield ChangedFile(path, status, old, _SUBMODULE in fields[:2] or bool(_BINARY_RE.fullmatch(path)))


def _lines_of(path: Path) -> list[str]:
    """The lines of a small file that names folders; none when it is not there."""
    if not path.is_file():
        return []
    with path.open("rb") as file:
        lines = os.fsdecode(file.read(_CHUNK)).splitlines()
    return [line for line in lines if line and not line.startswith("#") and "\0" not in line]


def _moment(seconds: str) -> datetime | None:
    """A time as git tells it; a repository may hold dates that no calendar has."""
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return None
