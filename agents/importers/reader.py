"""From a path to items: which files are looked at, and which reader reads them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from django.utils.translation import gettext_lazy as _

from agents.importers.items import FailedItem, ImportedAgent, Item, SkippedItem
from agents.importers.json_agents import read_json_agents
from agents.importers.markdown import read_markdown
from agents.importers.table import read_csv_agents
from agents.importers.yaml_agents import read_yaml_agents
from common.errors import ApplicationError
from common.file_reading import MAX_BYTES, display_path, list_files, read_text_file

#: A table or an export holds many agents.
MAX_COLLECTION_BYTES = 64 * 1024 * 1024

_MARKDOWN = (".md", ".markdown")
_COLLECTIONS: dict[str, tuple[int, Callable[[str, str], list[Item]]]] = {
    ".csv": (MAX_COLLECTION_BYTES, read_csv_agents),
    ".json": (MAX_COLLECTION_BYTES, read_json_agents),
    ".yaml": (MAX_BYTES, read_yaml_agents),
    ".yml": (MAX_BYTES, read_yaml_agents),
}
SUFFIXES = (*_MARKDOWN, *_COLLECTIONS)
#: Every name ends so.
ANY = ("",)


@dataclass(frozen=True)
class ImportReading:
    """All that was found, in the order of files and lines; found = agents + skipped + failed."""

    items: tuple[Item, ...]

    @property
    def found(self) -> int:
        return len(self.items)

    @property
    def agents(self) -> list[ImportedAgent]:
        return [item for item in self.items if isinstance(item, ImportedAgent)]

    @property
    def skipped(self) -> list[SkippedItem]:
        return [item for item in self.items if isinstance(item, SkippedItem)]

    @property
    def failed(self) -> list[FailedItem]:
        return [item for item in self.items if isinstance(item, FailedItem)]


def read_agents(path: Path) -> ImportReading:
    """The agents of a file, or of all files below a folder whose name ends in one of `SUFFIXES`.

    Other files of a folder are skipped items, except hidden ones (`.gitignore`), which no person put there to
    be imported. A file that cannot be read becomes one failed item, and the rest goes on. File names in the items are
    relative to the folder, or the bare name of the single file.
    Errors: `NOT_FOUND` when there is nothing at `path`; `VALIDATION_ERROR` for a folder with too many files.
    """
    if path.is_dir():
        items = [
            item
            for file in list_files(path, ANY)
            if not _is_hidden(file)
            for item in _read_file(file, display_path(file.relative_to(path)), in_folder=True)
        ]
        return ImportReading(tuple(items))
    if not path.exists() and not path.is_symlink():
        raise ApplicationError("NOT_FOUND", _("there is no file or folder “%s”") % display_path(path))
    return ImportReading(tuple(_read_file(path, display_path(Path(path.name)), in_folder=False)))


def _read_file(path: Path, file: str, *, in_folder: bool) -> list[Item]:
    suffix = path.suffix.casefold()
    limit, read = _COLLECTIONS.get(suffix, (MAX_BYTES, None))
    if suffix not in SUFFIXES and in_folder and not path.is_symlink() and path.is_file():
        # Not opened: a picture beside the texts is no broken text.
        return [_other(file, in_folder)]
    try:
        text = read_text_file(path, max_bytes=limit)
        if read is not None:
            return read(text, file) or [SkippedItem(file, 1, str(_("an empty list, no agents")))]
        if suffix in _MARKDOWN:
            return read_markdown(text, file, display_path(Path(path.stem)), in_folder=in_folder)
    except ApplicationError as error:
        return [FailedItem(file, error.extra.get("line", 1), str(error.extra.get("reason", error.message)))]
    return [_other(file, in_folder)]


def _other(file: str, in_folder: bool) -> Item:
    """A file of another type: a fault where it was named itself, in a folder one that happens to lie there."""
    reason = str(_("the file name must end in one of %s") % ", ".join(SUFFIXES))
    return SkippedItem(file, 1, reason) if in_folder else FailedItem(file, 1, reason)


def _is_hidden(file: Path) -> bool:
    return file.name.startswith(".") and not file.name.casefold().endswith(SUFFIXES)
