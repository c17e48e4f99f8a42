"""Give knowledge out: files that `import_knowledge` reads back to the same items."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.utils import timezone

from common.companies.models import Company
from common.file_writing import ORDINARY, write_text
from evolution.knowledge.choices import Status
from evolution.knowledge.markdown import write_knowledge
from evolution.knowledge.models import Knowledge
from evolution.knowledge.models.knowledge import KnowledgeQuerySet
from evolution.knowledge.rules.records import KnowledgeRecord

#: What a person confirmed and nobody put away.
EXPORTED = (Status.ACTIVE, Status.DEPRECATED)
_SAME = ("number", "title", "category", "summary", "details", "code_example", "code_language", "confidence")


def library(company: Company) -> KnowledgeQuerySet:
    """The company's confirmed items by number; none in quarantine."""
    items = Knowledge.objects.of_company(company).filter(status__in=EXPORTED, quarantined_at=None)
    return items.exclude(confirmed_sha256="").prefetch_related("related").order_by("number")


def record_of(item: Knowledge) -> KnowledgeRecord:
    """What a file of the item says."""
    return KnowledgeRecord(
        **{name: getattr(item, name) for name in _SAME},
        tags=list(item.tags),
        references=list(item.references),
        related={other.number: other.title for other in item.related.all()},
        created=timezone.localdate(item.created_at),
        is_deprecated=bool(item.deprecated_by),
    )


def export_knowledge(
    *, company: Company, folder: Path, progress: Callable[[int], Any] = lambda done: None
) -> int:
    """Write k-NNN.md of each item into a folder; how many. Older exports are replaced. Errors: OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for item in library(company):
        write_text(
            folder / f"{item.code}.md", write_knowledge(record_of(item)), mode=ORDINARY, overwrite=True
        )
        count += 1
        progress(1)
    return count
