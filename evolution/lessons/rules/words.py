"""The words by which lessons are found: of texts, of paths, of tags. Pure, in linear time.

The one tokeniser (common.tokens) decides what a word is; here identifiers are split further, English words
are brought to their stem, and CJK characters stand alone too. docs/rules.md: recall words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

import snowballstemmer

from common.text import CJK, name_key, nfkc
from common.tokens import DROPPED_CHARACTERS, occurrences
from evolution.lessons.rules.paths import basename, directories

#: Beyond this a text tells nothing new, and a query of it would be slow.
MAX_TEXT = 20_000

_ASCII_WORD_RE = re.compile(r"[A-Za-z0-9]+")
_CAMEL_PART_RE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_LETTERS_DIGITS_RE = re.compile(r"[a-z]+|[0-9]+")
_ENGLISH_RE = re.compile(r"[a-z]{3,40}")
_MIXED_RE = re.compile(r"(?=[a-z0-9]*[a-z])(?=[a-z0-9]*[0-9])[a-z0-9]{3,40}")
_CJK_RE = re.compile(f"[{CJK}]")
_STEMMER = snowballstemmer.stemmer("english")


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of an English word; any other token stays as it is."""
    return str(_STEMMER.stemWord(word)) if _ENGLISH_RE.fullmatch(word) else word


def index_words(text: str) -> list[str]:
    """The words of a text with their repetitions: stems, parts of identifiers, CJK pieces and characters."""
    characters = _CJK_RE.findall(nfkc(text[:MAX_TEXT]))
    return _words(text) + [char for char in characters if char not in DROPPED_CHARACTERS]


def keywords(text: str) -> list[str]:
    """The different words of a text without single CJK characters, which are too common to be trusted."""
    return list(dict.fromkeys(_words(text)))


def _words(text: str) -> list[str]:
    text = text[:MAX_TEXT]
    words: list[str] = []
    for token in occurrences(text):
        words.append(stem(token))
        if _MIXED_RE.fullmatch(token):
            words += [stem(part) for part in _LETTERS_DIGITS_RE.findall(token) if len(part) > 1]
    # Folding hides the humps of camelCase, so they are looked for in the text as written.
    for word in _ASCII_WORD_RE.findall(nfkc(text)):
        parts = [] if word[1:].islower() else _CAMEL_PART_RE.findall(word)
        if len(parts) > 1 and not word.islower():
            words += [stem(part.casefold()) for part in parts if len(part) > 1]
    return words


def query_words(text: str) -> list[str]:
    """The different words of a query, in order of first appearance."""
    return list(dict.fromkeys(index_words(text)))


def first_line(task: str) -> str:
    """The first line of a task that is not empty: what it is called."""
    return next((line.strip() for line in task[:MAX_TEXT].split("\n") if line.strip()), "")


def path_words(path: str) -> list[str]:
    """The words in the parts of a normalised path, without its ending."""
    stem_part, dot, ending = path.rpartition(".")
    named = stem_part if dot and "/" not in ending and stem_part and not stem_part.endswith("/") else path
    return index_words(named.replace("/", " "))


def path_tokens(path: str) -> Iterator[str]:
    """What of a normalised path can be shared with another: `=` the whole, `/` each directory, `@` the name,
    `~` the name without ending, and its words. The marks keep the kinds apart.
    """
    yield f"={path}"
    for directory in directories(path):
        yield f"/{directory}"
    if path.endswith("/"):
        yield f"/{path}"
    name = basename(path)
    yield f"@{name}"
    yield f"~{name.partition('.')[0] or name}"
    yield from path_words(path)


def paths_tokens(paths: Iterable[str]) -> list[str]:
    """The different path tokens of several paths."""
    return list(dict.fromkeys(token for path in paths for token in path_tokens(path)))


def tag_keys(tags: Iterable[str]) -> list[str]:
    """The keys of tags, unique, in order; blank ones are dropped."""
    return list(dict.fromkeys(key for key in map(name_key, tags) if key))
