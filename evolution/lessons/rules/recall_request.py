"""What a caller may ask recall for. Pure. docs/rules.md: recall input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from evolution.lessons.rules.answers import POSSIBLE
from evolution.lessons.rules.kinds import MAX_TAG, MAX_TAGS
from evolution.lessons.rules.paths import MAX_PATH, normalise_paths
from evolution.lessons.rules.reading import Reading

MAX_TASK = 4000
MAX_QUERY_FILES = 500
MAX_REFERENCE = 200
TOP_K, MAX_TOP_K = 5, 50
PURPOSES = ("start_task", "agent_update", "architecture_guard", "pr_review", "explicit")


@dataclass(frozen=True)
class RecallRequest:
    """A cleaned request: files in normal form, nothing empty; `why_not` is the number of a lesson."""

    task: str = ""
    tags: Sequence[str] = ()
    files: Sequence[str] = ()
    agent_id: int | None = None
    purpose: str = "explicit"
    top_k: int = TOP_K
    min_relevance: float = POSSIBLE
    include_archived: bool = False
    include_superseded: bool = False
    reference: str = ""
    why_not: int | None = None


def checked_request(values: Mapping[str, Any]) -> RecallRequest:
    """The request of these raw values; `files` is another name for `modified_files`.

    Raises VALIDATION_ERROR naming every fault. Whether anything is left to recall by, `recall_query` says.
    """
    reading = Reading(values)
    given = [name for name in ("modified_files", "files") if name in reading.values]
    if len(given) == 2 and reading.values["files"] != reading.values["modified_files"]:
        reading.fault("/files", _("“modified_files” and “files” are one field; send one of them."))
    request = RecallRequest(
        task=reading.text("task", MAX_TASK),
        tags=reading.texts("tags", MAX_TAGS, MAX_TAG, ",，、"),
        files=normalise_paths(
            reading.texts(given[0] if given else "files", MAX_QUERY_FILES, MAX_PATH, ",，")
        ),
        agent_id=reading.whole("agent", 1, 2**63 - 1),
        purpose=reading.word("purpose", PURPOSES, "explicit"),
        top_k=reading.whole("top_k", 1, MAX_TOP_K, TOP_K),
        min_relevance=reading.share("min_relevance", POSSIBLE),
        include_archived=reading.switch("include_archived"),
        include_superseded=reading.switch("include_superseded"),
        reference=reading.text("reference", MAX_REFERENCE),
        why_not=reading.code("why_not"),
    )
    reading.check()
    return request
