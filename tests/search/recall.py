"""The recall of lessons asked through the index, for comparison with the rules that it must agree with."""

from common.search.rules.query import Attributes, Bm25, Entry, Query, Recency, Share
from evolution.lessons.rules.paths import directories
from evolution.lessons.rules.recall import PATH, TEXT, WEIGHTS

FIELDS = ("text", "title", "path", "file_words")


def entry(key, lesson, **attributes):
    """The entry of a lesson of the pure library (rules.library.Entry)."""
    fields = {
        name: [word for word, times in lesson.counts[name].items() for _ in range(times)] for name in FIELDS
    }
    fields |= {"tags": sorted(lesson.tags), "keywords": sorted(lesson.keywords)}
    return Entry(key, fields, Attributes(**{"day": lesson.date, **attributes}))


def question(query, today, weights=WEIGHTS):
    """A recall query as one of the index: `=path` and the directories above stand for a file."""
    wanted = [[f"={name}" for name in (path, *directories(path))] for path in query.files]
    return Query(
        {
            "text": Bm25("text", query.words, TEXT.k1, TEXT.b, weights.text),
            "title": Bm25("title", query.title_words, TEXT.k1, TEXT.b, weights.title),
            "path": Bm25("path", query.path_tokens, PATH.k1, PATH.b, weights.path),
            "files": Share("path", wanted, weights.files),
            "file_words": Bm25("file_words", query.words, TEXT.k1, TEXT.b, weights.file_words),
            "tags": Share("tags", query.tags, weights.tags),
        },
        Recency(today, weights.recency, weights.half_life_days),
        {"keywords": query.keywords},
    )
