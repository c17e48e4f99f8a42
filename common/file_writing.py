"""Files that are either there as a whole or not at all, also after a crash in the middle of writing."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PRIVATE = 0o600
ORDINARY = 0o666


@contextmanager
def whole_file(path: Path, *, mode: int = PRIVATE, overwrite: bool = False) -> Iterator[Path]:
    """Yields an empty temporary file beside `path`; it takes the name only when the block succeeds.

    `mode` as for `open(2)`, so the umask applies. Errors: FileExistsError when `path` exists and `overwrite`
    is off, before the block and again at its end; OSError of the file system. The temporary file never stays.
    """
    if not overwrite and os.path.lexists(path):
        raise FileExistsError(path)
    part = path.with_name(f".{path.name[:200]}.{secrets.token_hex(6)}.part")
    os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
    try:
        yield part
        _to_disk(part)
        if overwrite:
            os.replace(part, path)
        else:
            os.link(part, path)  # unlike a rename, it never takes the place of a file that came meanwhile
    finally:
        part.unlink(missing_ok=True)
    _to_disk(path.parent)


def write_text(path: Path, text: str, *, mode: int = PRIVATE, overwrite: bool = False) -> None:
    """`text` as UTF-8, line ends as they are. Errors: as for `whole_file`."""
    with whole_file(path, mode=mode, overwrite=overwrite) as part:
        part.write_bytes(text.encode())


def _to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
