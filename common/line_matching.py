"""Which elements of two sequences correspond: the engine below `common.diff`. Pure, bounded work.

Python's own matcher needs quadratic time and more on repeated lines, which a reported text may well have.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Block:
    """`size` equal elements from `old` in the first and `new` in the second sequence (from 0)."""

    old: int
    new: int
    size: int


@dataclass
class _Budget:
    steps: int


def matching_blocks(old: Sequence[Hashable], new: Sequence[Hashable], steps: int) -> list[Block]:
    """The common parts in order, apart from each other, without empty ones.

    Elements that occur once on both sides hold the two together; between them the shortest edit is looked
    for. `steps` bounds that search: once it is used up, what lies between counts as different, which is right
    but longer than need be. Time grows with len(old) + len(new) + steps.
    """
    numbers: dict[Hashable, int] = {}
    left = [numbers.setdefault(element, len(numbers)) for element in old]
    right = [numbers.setdefault(element, len(numbers)) for element in new]
    budget = _Budget(steps)
    pairs: list[tuple[int, int]] = []
    start_old = start_new = 0
    for anchor_old, anchor_new in [*_anchors(left, right), (len(left), len(right))]:
        gap_old, gap_new = left[start_old:anchor_old], right[start_new:anchor_new]
        pairs += ((start_old + i, start_new + j) for i, j in _gap_pairs(gap_old, gap_new, budget))
        pairs.append((anchor_old, anchor_new))
        start_old, start_new = anchor_old + 1, anchor_new + 1
    return list(_joined(pairs[:-1]))


def _joined(pairs: list[tuple[int, int]]) -> Iterator[Block]:
    start = 0
    for end in range(1, len(pairs) + 1):
        if end == len(pairs) or pairs[end] != (pairs[end - 1][0] + 1, pairs[end - 1][1] + 1):
            yield Block(*pairs[start], size=end - start)
            start = end


def _anchors(left: list[int], right: list[int]) -> list[tuple[int, int]]:
    """The longest chain of elements that occur exactly once on each side (patience sorting)."""
    once_left, once_right = Counter(left), Counter(right)
    where = {element: index for index, element in enumerate(right) if once_right[element] == 1}
    pairs = [(i, where[e]) for i, e in enumerate(left) if once_left[e] == 1 and e in where]
    tails: list[int] = []  # the smallest end of a chain of each length
    at: list[int] = []  # and which pair that is
    before: list[int] = []
    for number, (_old, new) in enumerate(pairs):
        length = bisect_left(tails, new)
        before.append(at[length - 1] if length else -1)
        tails[length : length + 1] = [new]
        at[length : length + 1] = [number]
    chain = []
    number = at[-1] if at else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    return chain[::-1]


def _gap_pairs(left: list[int], right: list[int], budget: _Budget) -> list[tuple[int, int]]:
    """The pairs of one gap: equal ends at once, the middle by the shortest edit within the budget."""
    shorter = min(len(left), len(right))
    head = next((i for i in range(shorter) if left[i] != right[i]), shorter)
    room = shorter - head
    tail = next((i for i in range(room) if left[-1 - i] != right[-1 - i]), room)
    middle_left, middle_right = left[head : len(left) - tail], right[head : len(right) - tail]
    found = _shortest_edit(middle_left, middle_right, budget) if middle_left and middle_right else []
    return [
        *((i, i) for i in range(head)),
        *((head + i, head + j) for i, j in found),
        *((len(left) - i, len(right) - i) for i in range(tail, 0, -1)),
    ]


def _shortest_edit(left: list[int], right: list[int], budget: _Budget) -> list[tuple[int, int]]:
    """Pairs kept by the greedy algorithm of Myers, or none when the budget runs out."""
    if set(left).isdisjoint(right):
        return []
    # Half of the rest, so that one hopeless gap leaves something for those behind it.
    floor = budget.steps // 2
    middle = len(left) + len(right) + 1
    furthest = [0] * (2 * middle + 1)  # at `middle + diagonal`: the x that was reached on it
    trace: list[list[int]] = []
    for edits in range(middle):
        budget.steps -= edits + 1
        if budget.steps < floor:
            return []
        trace.append(furthest[middle - edits - 1 : middle + edits + 2])
        for diagonal in range(-edits, edits + 1, 2):
            at = middle + diagonal
            down = _goes_down(furthest, middle, diagonal, edits)
            x = start = furthest[at + 1] if down else furthest[at - 1] + 1
            while x < len(left) and x - diagonal < len(right) and left[x] == right[x - diagonal]:
                x += 1
            furthest[at] = x
            budget.steps -= x - start
            if x >= len(left) and x - diagonal >= len(right):
                return _walk_back(trace, len(left), len(right))
    return []


def _goes_down(furthest: list[int], middle: int, diagonal: int, edits: int) -> bool:
    """Whether the best way onto a diagonal takes an element of the right side (else one of the left)."""
    at = middle + diagonal
    return diagonal == -edits or (diagonal != edits and furthest[at - 1] < furthest[at + 1])


def _walk_back(trace: list[list[int]], x: int, y: int) -> list[tuple[int, int]]:
    pairs = []
    for edits in range(len(trace) - 1, -1, -1):
        furthest, middle, diagonal = trace[edits], edits + 1, x - y
        previous_x = previous_y = 0
        if edits:
            step = 1 if _goes_down(furthest, middle, diagonal, edits) else -1
            previous_x = furthest[middle + diagonal + step]
            previous_y = previous_x - diagonal - step
        while x > previous_x and y > previous_y:
            x, y = x - 1, y - 1
            pairs.append((x, y))
        x, y = previous_x, previous_y
    return pairs[::-1]
