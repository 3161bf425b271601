"""Two sequences side by side: which places hold the same, in order; exact for short ones, linear in time for long ones."""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

_LONGEST_EXACT = 1000
_LOOK_AHEAD = 48
_AGREE = 3


def aligned(left: Sequence[str], right: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yields (place in left, place in right) of equal items, both growing.

    The common start and end are taken off first. What remains is matched by its longest common blocks, or where it is long by
    walking both: after a difference, the nearest places from which the next few items agree.
    """
    start = 0
    shorter = min(len(left), len(right))
    while start < shorter and left[start] == right[start]:
        yield start, start
        start += 1
    end = 0
    while end < shorter - start and left[-1 - end] == right[-1 - end]:
        end += 1
    inner = left[start : len(left) - end], right[start : len(right) - end]
    if max(len(inner[0]), len(inner[1])) <= _LONGEST_EXACT:
        matcher = SequenceMatcher(None, inner[0], inner[1], autojunk=False)
        found: Iterator[tuple[int, int]] = (
            (a + step, b + step) for a, b, size in matcher.get_matching_blocks() for step in range(size)
        )
    else:
        found = _walked(*inner)
    for a, b in found:
        yield start + a, start + b
    for step in range(end, 0, -1):
        yield len(left) - step, len(right) - step


def _walked(left: Sequence[str], right: Sequence[str]) -> Iterator[tuple[int, int]]:
    a = b = 0
    while a < len(left) and b < len(right):
        if left[a] == right[b]:
            yield a, b
            a, b = a + 1, b + 1
            continue
        step = _next_agreement(left, right, a, b)
        a, b = (a + 1, b + 1) if step is None else step


def _next_agreement(left: Sequence[str], right: Sequence[str], a: int, b: int) -> tuple[int, int] | None:
    for apart in range(1, 2 * _LOOK_AHEAD):
        for ahead in range(max(0, apart - _LOOK_AHEAD), min(apart, _LOOK_AHEAD) + 1):
            x, y = a + ahead, b + apart - ahead
            if x < len(left) and y < len(right) and left[x : x + _AGREE] == right[y : y + _AGREE]:
                return x, y
    return None


def longest_increasing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest subsequence whose second numbers grow (patience sorting, n log n)."""
    tails: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for index, (_, place) in enumerate(pairs):
        at = bisect.bisect_left(tails, place)
        before.append(last[at - 1] if at else -1)
        if at == len(tails):
            tails.append(place)
            last.append(index)
        else:
            tails[at], last[at] = place, index
    found = []
    index = last[-1] if last else -1
    while index >= 0:
        found.append(pairs[index])
        index = before[index]
    return found[::-1]
