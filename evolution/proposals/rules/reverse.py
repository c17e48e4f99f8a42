"""Take a change back out of a text that went on. Pure. docs/rules.md: rollback."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from common.diff import unified
from common.errors import ApplicationError
from common.line_matching import matching_blocks

_STEPS = 1_000_000


@dataclass(frozen=True)
class _Region:
    """Lines `start` to `end` (exclusive) of the applied text, and what stands there instead."""

    start: int
    end: int
    lines: tuple[str, ...]

    def collides(self, other: _Region) -> bool:
        """Whether both change the same lines, or both insert at one place, so that the order is open."""
        if self.start == self.end == other.start == other.end:
            return True
        return self.start < other.end and other.start < self.end


def reversed_change(before: str | None, after: str | None, now: str | None) -> str | None:
    """The text `now` without the change from `before` to `after`; None means that the text does not exist.

    When nothing happened since (`now` equals `after`) this is `before`, byte for byte. Otherwise what was
    changed since must lie on other lines than the change itself.
    Errors: ROLLBACK_CONFLICT, with what happened since as `report` (a unified diff).
    """
    if now == after:
        return before
    if before is None or after is None or now is None:
        raise rollback_conflict(after, now)
    applied = _lines(after)
    undo = list(_regions(applied, _lines(before)))
    since = [region for region in _regions(applied, _lines(now)) if region not in undo]
    if any(one.collides(other) for one in undo for other in since):
        raise rollback_conflict(after, now)
    result: list[str] = []
    done = 0
    for region in sorted([*undo, *since], key=lambda region: (region.start, region.end)):
        result += [*applied[done : region.start], *region.lines]
        done = region.end
    result += applied[done:]
    if not all(line.endswith("\n") for line in result[:-1]):
        raise rollback_conflict(after, now)  # a last line without its end is no longer the last one
    return "".join(result)


def rollback_conflict(after: str | None, now: str | None, reason: object = None) -> ApplicationError:
    """ROLLBACK_CONFLICT with the difference between what was applied and what is there now."""
    message = reason or _(
        "The text went on since and the change cannot be taken out cleanly; undo it by hand."
    )
    report = unified(after or "", now or "", "applied", "now")
    return ApplicationError("ROLLBACK_CONFLICT", message, extra={"report": report})


def _lines(text: str) -> list[str]:
    """Lines as in a diff: only LF ends one."""
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _regions(old: list[str], new: list[str]) -> Iterator[_Region]:
    """What must be replaced in `old` to get `new`."""
    done_old = done_new = 0
    for block in matching_blocks(old, new, _STEPS):
        if block.old > done_old or block.new > done_new:
            yield _Region(done_old, block.old, tuple(new[done_new : block.new]))
        done_old, done_new = block.old + block.size, block.new + block.size
    if done_old < len(old) or done_new < len(new):
        yield _Region(done_old, len(old), tuple(new[done_new:]))
