"""Records and questions for `bench.latency`: seeded random words with the skew of language, Chinese and English.

Word k of a vocabulary occurs in proportion to 1/k. Words stand apart, so that every peer can split them.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import accumulate

CHARACTERS = 216
TITLE = 30
WORDS = 30_000
FOLDERS, FILES = 400, 20_000
WORDS_OF_A_QUESTION, FILES_OF_A_QUESTION = 8, 2


@dataclass(frozen=True)
class Record:
    title: str
    text: str
    files: list[str]


@dataclass(frozen=True)
class Question:
    words: list[str]
    files: list[str]


class Language:
    """A vocabulary whose words are drawn by their rank."""

    def __init__(self, words: list[str]) -> None:
        self.words = words
        self.weights = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))

    def text(self, chance: random.Random, length: int) -> str:
        text = " ".join(chance.choices(self.words, cum_weights=self.weights, k=length // 3))
        return text[:length].rsplit(" ", 1)[0]


def english(chance: random.Random) -> Language:
    syllables = [first + second for first in "bcdfghklmnprstvw" for second in "aeiou"]
    return Language(_distinct(lambda: "".join(chance.choices(syllables, k=chance.randint(2, 4)))))


def chinese(chance: random.Random) -> Language:
    characters = [chr(code) for code in range(0x4E00, 0x4E00 + 1500)]
    return Language(_distinct(lambda: "".join(chance.choices(characters, k=2))))


def _distinct(make) -> list[str]:
    words: dict[str, None] = {}
    while len(words) < WORDS:
        words[make()] = None
    return list(words)


def records(count: int, seed: int = 7) -> list[Record]:
    """Half of them in each language."""
    chance = random.Random(seed)
    languages = [english(chance), chinese(chance)]
    names = languages[0].words
    folders = [f"{chance.choice(names)}/{chance.choice(names)}" for _ in range(FOLDERS)]
    files = [f"{chance.choice(folders)}/{chance.choice(names)}.py" for _ in range(FILES)]
    made = []
    for number in range(count):
        language = languages[number % 2]
        listed = [files[int(chance.random() ** 2 * FILES)] for _ in range(chance.randint(1, 3))]
        text = language.text(chance, CHARACTERS - TITLE)
        made.append(Record(language.text(chance, TITLE), text, listed))
    return made


def questions(library: list[Record], count: int, seed: int = 8) -> list[Question]:
    """Words and a file of one record, and a file of another one."""
    chance = random.Random(seed)
    asked = []
    for _ in range(count):
        record, other = chance.choice(library), chance.choice(library)
        words = list(dict.fromkeys(record.text.split()))
        words = chance.sample(words, min(WORDS_OF_A_QUESTION, len(words)))
        asked.append(Question(words, [chance.choice(record.files), chance.choice(other.files)]))
    return asked
