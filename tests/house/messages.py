"""What the code wants translated, and what the catalogues hold."""

from __future__ import annotations

import ast
import gettext
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import django
import unfold
from babel.messages.catalog import Catalog
from babel.messages.mofile import read_mo, write_mo
from babel.messages.pofile import read_po
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parents[2]
LOCALE = ROOT / "locale"
CHINESE = LOCALE / "zh_Hans" / "LC_MESSAGES" / "django.po"
NOT_OURS = {".venv", "tests", "bench", "var", "staticfiles", "node_modules"}
#: Contributions of Unfold that are not installed here.
UNUSED = {"constance", "guardian", "import_export", "inlines", "location_field", "simple_history"}
PLAIN = {"_", "gettext", "gettext_lazy", "gettext_noop", "ugettext", "ugettext_lazy"}
PLURAL = {"ngettext", "ngettext_lazy"}
TEMPLATE_CALL = re.compile(r"""\b_?(n?)p?gettext\((?=u?['"])|\b_\((?=u?['"])""")
PLACEHOLDER = re.compile(r"%\(\w+\)[#0 +-]?\d*[sdrf]|%(?:0\d+)?[sdrXf]|\{\w*\}")
HAN = re.compile(r"[\u4e00-\u9fff]")

Message = tuple[str, str]


def python_messages(path: Path) -> Iterator[Message]:
    """(msgid, plural or empty) of every call of a gettext function; ValueError for one that xgettext cannot see."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    hidden = {
        id(inner) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        wanted = 1 if name in PLAIN else 2 if name in PLURAL else 0
        if not wanted or len(node.args) < wanted:
            continue
        texts = [argument.value for argument in node.args[:wanted] if isinstance(argument, ast.Constant)]
        f_strings = [argument for argument in node.args[:wanted] if isinstance(argument, ast.JoinedStr)]
        if f_strings or (texts and id(node) in hidden and "site-packages" not in path.parts):
            raise ValueError(f"{path}:{node.lineno}: no gettext in an f-string, no f-string in gettext")
        if len(texts) == wanted and all(isinstance(text, str) for text in texts):
            yield texts[0], texts[1] if wanted == 2 else ""


def template_messages(path: Path) -> Iterator[Message]:
    """(msgid, plural or empty) of every translatable text of a template, as `makemessages` sees it."""
    source = templatize(path.read_text(encoding="utf-8"), origin=str(path))
    for match in TEMPLATE_CALL.finditer(source):
        texts = list(_literals(source, match.end()))
        yield texts[0], texts[1] if match[1] and len(texts) > 1 else ""


def _literals(source: str, at: int) -> Iterator[str]:
    """The string literals at the beginning of an argument list."""
    literal = re.compile(r"""\s*u?('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")\s*,?""", re.S)
    while match := literal.match(source, at):
        # A literal of a template may hold line ends, one of Python may not.
        yield ast.literal_eval(match[1].replace("\n", "\\n"))
        at = match.end()


def files(root: Path, without: set[str]) -> Iterator[Path]:
    """Python files and templates of a tree, in the order of their names, without some folders."""
    for path in sorted(root.rglob("*")):
        if path.suffix in READERS and not without & set(path.relative_to(root).parts):
            yield path


READERS = {".py": python_messages, ".html": template_messages, ".txt": template_messages}


def collect(root: Path, without: set[str]) -> dict[Message, str]:
    """Every message below `root` -> one file that holds it."""
    found: dict[Message, str] = {}
    for path in files(root, without):
        for message in READERS[path.suffix](path):
            found.setdefault(message, str(path.relative_to(root)))
    return {message: where for message, where in found.items() if message[0]}


def our_messages() -> dict[Message, str]:
    """Messages of this project, those borrowed from libraries included."""
    return collect(ROOT, NOT_OURS)


def unfold_messages() -> dict[Message, str]:
    """Messages of the installed Unfold that Django's own catalogues do not translate."""
    found, known = collect(Path(unfold.__file__).parent, UNUSED), django_msgids()
    return {message: where for message, where in found.items() if message[0] not in known}


def django_msgids() -> set[str]:
    """What Django translates into Chinese itself."""
    known: set[str] = set()
    for part in ("conf", "contrib/admin", "contrib/auth"):
        path = Path(django.__file__).parent / part / "locale/zh_Hans/LC_MESSAGES/django.mo"
        with path.open("rb") as file:
            catalog = gettext.GNUTranslations(file)._catalog
        known |= {key[0] if isinstance(key, tuple) else key for key in catalog}
    return known


def catalog(path: Path = CHINESE) -> Catalog:
    """A catalogue without its obsolete entries."""
    with path.open("rb") as file:
        return read_po(file, ignore_obsolete=True, locale=path.parents[1].name)


def translations(path: Path = CHINESE) -> dict[Message, str]:
    """(msgid, plural or empty) -> translation; fuzzy entries count as untranslated."""
    found = {}
    for message in catalog(path):
        if message.id:
            ids = message.id if isinstance(message.id, tuple) else (message.id, "")
            texts = message.string if isinstance(message.string, tuple) else (message.string,)
            found[ids] = "" if message.fuzzy or not all(texts) else texts[0]
    return found


def compiled(path: Path) -> dict:
    """What the compiled catalogue beside a .po holds."""
    with path.with_suffix(".mo").open("rb") as file:
        return _entries(file)


def compiled_anew(path: Path) -> dict:
    """What compiling a .po now would give."""
    buffer = io.BytesIO()
    write_mo(buffer, catalog(path))
    buffer.seek(0)
    return _entries(buffer)


def _entries(file: IO[bytes]) -> dict:
    return {str(message.id): message.string for message in read_mo(file) if message.id}
