"""Lessons as files: `EXP-*.md`, `index.json`, and documents of others that can become drafts.

Reading is lenient and says what was odd; writing gives the same bytes for the same record, and what was
written reads back as the same record. Nothing here opens a file.
"""

from evolution.lessons.markdown.foreign import is_lesson_file, read_document
from evolution.lessons.markdown.index import IndexReading, index_of, merge_row, read_index, write_index
from evolution.lessons.markdown.reading import number_in_name, read_lesson
from evolution.lessons.markdown.writing import lesson_path, template, write_lesson

__all__ = [
    "IndexReading",
    "index_of",
    "is_lesson_file",
    "lesson_path",
    "merge_row",
    "number_in_name",
    "read_document",
    "read_index",
    "read_lesson",
    "template",
    "write_index",
    "write_lesson",
]
