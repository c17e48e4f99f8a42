"""Files handed to an import: found in a stable order, read as UTF-8 text or refused with a reason."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from django.utils.translation import gettext_lazy as _

from common.errors import ApplicationError

MAX_BYTES = 1024 * 1024
MAX_FILES = 10_000
MAX_ENTRIES = 200_000

_VERSION_CONTROL = frozenset({".git", ".hg", ".svn"})
# UTF-32 first: its little-endian mark starts with the one of UTF-16.
_OTHER_MARKS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)


def read_text_file(path: Path, *, max_bytes: int = MAX_BYTES) -> str:
    """The text of a UTF-8 file without its BOM; line ends stay as they are.

    Errors: `VALIDATION_ERROR` for a symbolic link, anything that is not a regular file, a file of more than
    `max_bytes`, UTF-16/32, a NUL, bytes that are not UTF-8. `extra["line"]` is the 1-based line of the fault.
    """
    return decode_text(_read_bytes(path, max_bytes))


def decode_text(data: bytes) -> str:
    """UTF-8 bytes as text, without BOM. Errors: as for `read_text_file`."""
    for mark, name in _OTHER_MARKS:
        if data.startswith(mark):
            raise unreadable(1, _("the file is %s; save it as UTF-8") % name)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _not_utf8(data, error.start) from None
    position = text.find("\0")
    if position >= 0:
        raise unreadable(text.count("\n", 0, position) + 1, _("a NUL character; this is not a text file"))
    return text.removeprefix("\ufeff")


def list_files(root: Path, suffixes: Collection[str], *, max_files: int = MAX_FILES) -> Iterator[Path]:
    """Files below `root` whose name ends in one of `suffixes` (`.md`; case does not matter), sorted by path.

    Symbolic links and folders that cannot be opened are yielded too, so that the caller can report them;
    links are not followed. Version control folders are left out.
    Errors: `VALIDATION_ERROR`, before the first file, for more than `max_files` files.
    """
    endings = tuple(suffix.casefold() for suffix in suffixes)
    found: list[Path] = []
    closed: list[OSError] = []
    seen = 0
    for folder, names, files in os.walk(root, onerror=closed.append):
        base = Path(folder)
        names[:] = [name for name in names if name not in _VERSION_CONTROL]
        found += [base / name for name in names if (base / name).is_symlink()]
        found += [base / name for name in files if name.casefold().endswith(endings)]
        seen += len(names) + len(files)
        if len(found) > max_files or seen > MAX_ENTRIES:
            message = _("more than %(limit)d files below %(root)s; import a smaller folder") % {
                "limit": max_files if len(found) > max_files else MAX_ENTRIES,
                "root": display_path(root),
            }
            raise ApplicationError("VALIDATION_ERROR", message)
    found += [Path(error.filename) for error in closed]
    return iter(sorted(found, key=lambda path: path.parts))


def display_path(path: Path) -> str:
    """The path with `/`, safe to print and to store: undecodable and unprintable characters become U+FFFD."""
    text = os.fsencode(path.as_posix()).decode("utf-8", "replace")
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def unreadable(line: int, reason: Any, **extra: Any) -> ApplicationError:
    """An input that cannot be read: `extra` has the 1-based `line` and the `reason` without the line."""
    message = _("line %(line)d: %(reason)s") % {"line": line, "reason": reason}
    return ApplicationError("VALIDATION_ERROR", message, extra={"line": line, "reason": str(reason), **extra})


def _read_bytes(path: Path, max_bytes: int) -> bytes:
    try:
        with open(path, "rb", opener=_open_carefully) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise unreadable(1, _("not a regular file"))
            data = file.read(max_bytes + 1)
    except OSError as error:
        if error.errno == errno.ELOOP or path.is_symlink():
            raise unreadable(1, _("symbolic links are not followed")) from None
        raise unreadable(1, error.strerror or str(error)) from None
    if len(data) <= max_bytes:
        return data
    actual = max(status.st_size, len(data))
    reason = _(
        "the file is too large: limit %(limit)d bytes, actual %(actual)d; split it or remove %(excess)d bytes"
    ) % {"limit": max_bytes, "actual": actual, "excess": actual - max_bytes}
    raise unreadable(1, reason)


def _open_carefully(path: str, flags: int) -> int:
    # O_NOFOLLOW, because a file checked beforehand can become a link; O_NONBLOCK, because a pipe waits.
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def _not_utf8(data: bytes, position: int) -> ApplicationError:
    # A NUL further up is the better reason: the file is then no text at all.
    zero = data.find(b"\0", 0, position)
    if zero >= 0:
        return unreadable(data.count(b"\n", 0, zero) + 1, _("a NUL character; this is not a text file"))
    line = data.count(b"\n", 0, position) + 1
    if data[:position].isascii():
        return unreadable(line, _("byte 0x%02X is not UTF-8; save the file as UTF-8") % data[position])
    return unreadable(
        line,
        _("mixed encodings: UTF-8 up to here, then byte 0x%02X; save the whole file as UTF-8")
        % data[position],
    )
