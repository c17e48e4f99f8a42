"""What a report of an outcome may say. Pure. docs/rules.md: outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy as _

from common.reading import Reading
from evolution.knowledge.rules.causal import FAILURE, PARTIAL, SUCCESS, Causal
from evolution.knowledge.rules.values import LIMITS, shortened

RESULTS = (SUCCESS, FAILURE, PARTIAL)
MAX_TASK = 200
MAX_NOTES = 2000
MAX_BUGS = 1000
#: Two years of minutes: more was never saved, or lost, by one item.
MAX_MINUTES = 1_000_000
WARNING_CONFIDENCE = Decimal("0.85")
WARNING_CATEGORY = "anti-pattern"


@dataclass(frozen=True)
class Report:
    """One report. Either `knowledge`, the code of an item, or `injection_id` is given."""

    result: str
    knowledge: str = ""
    injection_id: UUID | None = None
    task: str = ""
    minutes: int | None = None
    bugs: int = 0
    notes: str = ""


def checked_report(values: Mapping[str, Any]) -> Report:
    """The report of these raw values. Errors: VALIDATION_ERROR naming every fault."""
    reading = Reading(values)
    knowledge, injection = reading.text("knowledge", MAX_TASK), reading.text("injection_id", MAX_TASK)
    if bool(knowledge) == bool(injection) and not reading.faults:
        reading.fault("/knowledge", _("Name either the item (“knowledge”) or the “injection_id”."))
    result = reading.word("result", RESULTS, "")
    if not result and "result" not in {fault.pointer.strip("/") for fault in reading.faults}:
        reading.fault("/result", _("The result is one of: %(known)s.") % {"known": ", ".join(RESULTS)})
    report = Report(
        result=result,
        knowledge=knowledge,
        injection_id=as_uuid(injection),
        task=" ".join(reading.text("task", MAX_TASK).split()),
        minutes=reading.whole("time_saved_minutes", -MAX_MINUTES, MAX_MINUTES),
        bugs=reading.whole("bugs_introduced", 0, MAX_BUGS, 0),
        notes=reading.text("notes", MAX_NOTES),
    )
    reading.check()
    return report


def as_uuid(text: str) -> UUID | None:
    """The id of an injection; None for what is none."""
    try:
        return UUID(text)
    except ValueError:
        return None


def warning_title(title: str, code: str = "") -> str:
    """`Anti-Pattern: <title>`, within the limit; with the code where another item has that title already."""
    mark = f" ({code})" if code else ""
    return shortened(f"Anti-Pattern: {title}", LIMITS["title"] - len(mark)) + mark


def warning_summary(code: str, title: str, causal: Causal, *, in_chinese: bool) -> str:
    """What the outcomes said, in one sentence of the agent's language: an agent reads it once it is confirmed."""
    told, successes = causal.known(0), int(causal.success_rate * causal.samples)
    if in_chinese:
        said = f"{causal.samples} 次使用中成功 {successes} 次（因果评分 {told}）"
        return shortened(f"不要依赖 {code}“{title}”：{said}。", LIMITS["summary"])
    said = f"{successes} of {causal.samples} uses succeeded (causal score {told})"
    return shortened(f"Do not rely on {code} “{title}”: {said}.", LIMITS["summary"])
