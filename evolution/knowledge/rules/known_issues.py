"""A debugging item as one line of the list of known issues. Pure. docs/rules.md: known issues."""

from __future__ import annotations

from datetime import date

from evolution.knowledge.rules.harvesting import cause_and_solution

_PREFIX = "Fix: "


def known_issue(*, code: str, day: date, title: str, summary: str, details: str) -> dict[str, str]:
    """`id`, `date`, `type`, `cause`, `solution`, each on one line, and `text`: date | type | cause | solution (id).

    `-` stands for what nobody said.
    """
    cause, solution = cause_and_solution(summary, details)
    row = {
        "id": code,
        "date": day.isoformat(),
        "type": title.removeprefix(_PREFIX),
        "cause": " ".join(cause.split()),
        "solution": " ".join(solution.split()),
    }
    shown = [row[name].replace("|", "\\|") or "-" for name in ("date", "type", "cause", "solution")]
    return {**row, "text": f"{' | '.join(shown)} ({code})"}
