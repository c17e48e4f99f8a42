"""Take a change back out of a text that went on. Pure. docs/rules.md: rollback."""

from __future__ import annotations

from difflib import SequenceMatcher
from itertools import pairwise

from django.utils.translation import gettext_lazy as _

from common.errors import ApplicationError


def reversed_change(before: str | None, after: str | None, now: str | None) -> str | None:
    """The text `now` without the change from `before` to `after`.

    When nothing happened since (`now` equals `after`) this is `before`, byte for byte; None means that the
    document did not exist. Otherwise each changed place, with one line on either side, must still stand in
    `now` exactly once as `after` has it. Raises ROLLBACK_CONFLICT when it does not.
    """
    if now == after:
        return before
    if before is None or after is None or now is None:
        raise _conflict()
    old, new, current = (text.splitlines(keepends=True) for text in (before, after, now))
    same = _matches(new, current)
    result: list[str] = []
    done = 0
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, new, old, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        start, end = _place(same, i1, i2, len(new), len(current))
        if start < done:
            raise _conflict()
        result += current[done:start] + old[j1:j2]
        done = end
    return "".join(result + current[done:])


def _matches(new: list[str], current: list[str]) -> dict[int, int]:
    """Line number in `new` -> line number in `current`, for lines that are still there."""
    blocks = SequenceMatcher(None, new, current, autojunk=False).get_matching_blocks()
    return {block.a + offset: block.b + offset for block in blocks for offset in range(block.size)}


def _place(same: dict[int, int], i1: int, i2: int, new_count: int, current_count: int) -> tuple[int, int]:
    """Where lines i1..i2 of `new`, with a neighbour on either side, stand unbroken in `current`."""
    first, last = max(i1 - 1, 0), min(i2 + 1, new_count)
    places = [same.get(number, -1) for number in range(first, last)]
    if -1 in places or any(right - left != 1 for left, right in pairwise(places)):
        raise _conflict()
    if not places:
        raise _conflict()
    start = places[0] + (i1 - first)
    if i1 == 0 and start != 0:
        raise _conflict()
    if i2 == new_count and start + (i2 - i1) != current_count:
        raise _conflict()
    return start, start + (i2 - i1)


def _conflict() -> ApplicationError:
    return ApplicationError(
        "ROLLBACK_CONFLICT",
        _("The text went on since and the change cannot be taken out cleanly; undo it by hand."),
    )
