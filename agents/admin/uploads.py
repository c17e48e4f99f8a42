"""Files that a person uploads: kept between preview and confirmation in the page itself, never on the server."""

from __future__ import annotations

import base64
import binascii
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django import forms
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from agents.importers.items import Item
from agents.importers.reader import read_agents
from common.errors import ApplicationError, invalid

#: Together; base64 makes a third more of it, and a form may have 20 MB.
MAX_BYTES = 10 * 1024 * 1024
MAX_FILES = 50


@dataclass(frozen=True)
class Upload:
    """One file: its bare name and its bytes."""

    name: str
    data: bytes

    @property
    def packed(self) -> str:
        """The bytes as text for a hidden field."""
        return base64.b64encode(self.data).decode()


class FileInput(forms.FileInput):
    """A plain file field. Unfold's script writes the name of the file into a text box around it."""

    def render(self, *args: Any, **options: Any) -> SafeString:
        box = '<span><span><span>{}</span></span><input type="text" hidden disabled></span>'
        return format_html(box, super().render(*args, **options))


class FilesInput(FileInput):
    """The same for several files."""

    allow_multiple_selected = True


class FilesField(forms.FileField):
    """The uploaded files as `Upload`s; VALIDATION_ERROR-like form errors above the limits."""

    def __init__(self, *, accept: str, multiple: bool = True, **options: Any) -> None:
        widget = FilesInput if multiple else FileInput
        # Of several, an empty file is one failed line of the report and no reason to choose the others again.
        super().__init__(
            widget=widget(attrs={"accept": accept, "class": "fieldbook-file"}),
            allow_empty_file=multiple,
            **options,
        )

    def clean(self, data: Any, initial: Any = None) -> list[Upload]:
        files = data if isinstance(data, list | tuple) else [data]
        for file in files or [None]:
            super().clean(file, initial)
        if len(files) > MAX_FILES:
            raise forms.ValidationError(
                _("At most %(limit)d files at once; these are %(actual)d.")
                % {"limit": MAX_FILES, "actual": len(files)}
            )
        size = sum(file.size for file in files)
        if size > MAX_BYTES:
            raise forms.ValidationError(
                _("At most %(limit)d bytes at once; these are %(actual)d. Use the import command for more.")
                % {"limit": MAX_BYTES, "actual": size}
            )
        return [Upload(Path(file.name).name, file.read()) for file in files]


def unpacked(names: Sequence[str], texts: Sequence[str]) -> list[Upload]:
    """The files that a preview page sends back. Errors: VALIDATION_ERROR for a page that was tampered with."""
    if not names or len(names) != len(texts) or len(names) > MAX_FILES:
        raise invalid("/files", _("The page is damaged; upload the files again."))
    try:
        return [
            Upload(Path(name).name, base64.b64decode(text, validate=True))
            for name, text in zip(names, texts, strict=True)
        ]
    except binascii.Error as error:
        raise invalid("/files", _("The page is damaged; upload the files again.")) from error


def read_uploads(uploads: Iterable[Upload]) -> list[Item]:
    """The agents in the files, read one by one as the import command reads a single file."""
    items: list[Item] = []
    with tempfile.TemporaryDirectory(prefix="fieldbook-") as folder:
        for number, upload in enumerate(uploads):
            # A folder each: two files may have one name, and a name may be no file name here.
            place = Path(folder) / str(number)
            place.mkdir()
            path = place / (upload.name or "upload")
            try:
                path.write_bytes(upload.data)
            except (OSError, ValueError) as error:
                message = _("The file name %(name)s cannot be used; rename the file.") % {
                    "name": upload.name[:100]
                }
                raise ApplicationError("VALIDATION_ERROR", message) from error
            items += read_agents(path).items
    return items
