"""Which layer of one model is which of another: by name, then by structure.

Two sequences side by side: which places hold the same, in order; exact for short ones, linear in time for long ones.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from stethoscope.architecture.activations import plain_type
from stethoscope.architecture.layer_looks import coarse_look, is_given_name, kind_word, looks_around, name_parts
from stethoscope.architecture.model_shape import in_order
from stethoscope.models.formats import format_of
from stethoscope.types import Architecture, Layer

How = Literal["name", "structure"]
_COMMON = 8
"""Operators that one layer becomes, at least: names in more paths than that, and in a fifth of all, tell nothing."""


@dataclass(frozen=True)
class Match:
    """Layer `a` of the first model is layer `b` of the second."""

    a: str
    b: str
    how: How


def match(first: Architecture, second: Architecture) -> tuple[Match, ...]:
    """Pairs the layers of two models, each at most once, in the order of the first.

    Names count first: given ones where the kind is the same, numbered ones (dense_3) where the layer looks the same too. Then
    structure, from strict to loose: looks with three, two, one or no rounds of neighbours, kind and parameters, kind alone; each
    between the layers that are matched already, in execution order. What is left is matched by name if the kind fits. Of operators,
    those that answer for the model, and those that stand alone between the same neighbours, are each other whatever their kinds.
    """
    across = is_across(first, second)
    pairing = _Pairing(first, second)
    looks = looks_around(first, across=across), looks_around(second, across=across)
    pairing.by_path(lambda a, b: is_given_name(a) or looks[0][a.path][0] == looks[1][b.path][0])
    if across:
        pairing.by_part_of_name()
    for rounds in (3, 2, 1, 0):
        pairing.by_look(_look_at(looks[0], rounds), _look_at(looks[1], rounds))
    pairing.by_look(coarse_look, coarse_look)
    pairing.by_path(lambda a, b: True)
    pairing.by_look(kind_word, kind_word, between_only=True)
    if across or not format_of(first).live:
        pairing.by_answer(first, second)
        pairing.by_neighbours()
    return tuple(Match(layer.path, *pairing.found[layer.path]) for layer in first.layers if layer.path in pairing.found)


def _look_at(looks: Mapping[str, Sequence[str]], rounds: int) -> Callable[[Layer], str]:
    return lambda layer: looks[layer.path][rounds]


def is_across(first: Architecture, second: Architecture) -> bool:
    """Whether the two files speak different languages: layers here, operators there, or operators of different runtimes."""
    return _language(first) != _language(second)


def _language(architecture: Architecture) -> str:
    found = format_of(architecture)
    return "keras" if found.live else found.runtime


class _Pairing:
    """Matches found so far, and what is still free."""

    def __init__(self, first: Architecture, second: Architecture) -> None:
        self.found: dict[str, tuple[str, How]] = {}
        self._taken: set[str] = set()
        self._a, self._b = in_order(first.layers)[0], in_order(second.layers)[0]
        self._place_b = {layer.path: index for index, layer in enumerate(self._b)}
        self._by_path = {layer.path: layer for layer in self._b}

    def _join(self, a: Layer, b: Layer, how: How) -> None:
        self.found[a.path] = (b.path, how)
        self._taken.add(b.path)

    def _free(self, layers: Sequence[Layer], taken: Callable[[str], bool]) -> list[Layer]:
        return [layer for layer in layers if not taken(layer.path)]

    def by_path(self, accepts: Callable[[Layer, Layer], bool]) -> None:
        for a in self._a:
            b = self._by_path.get(a.path)
            if b is None or a.path in self.found or b.path in self._taken:
                continue
            if kind_word(a) == kind_word(b) and accepts(a, b):
                self._join(a, b, "name")

    def by_part_of_name(self) -> None:
        """A layer's name within operators' paths, where the kind is the same; the first such operator counts."""
        names: dict[tuple[str, str], list[Layer]] = {}
        common = Counter(part for b in self._b for part in name_parts(b.path))
        usual = max(_COMMON, len(self._b) // 5)
        for b in self._b:
            for part in name_parts(b.path):
                if common[part] > usual or plain_type(part) == plain_type(b.type):
                    continue  # The model's own name, or the operator's: every path may have it.
                names.setdefault((part, kind_word(b)), []).append(b)
        for a in self._a:
            for part in reversed(name_parts(a.path)):
                free = [b for b in names.get((part, kind_word(a)), ()) if b.path not in self._taken]
                same = [b for b in free if b.parameters == a.parameters] or free
                if same and (len(same) == 1 or is_given_name(a)):
                    self._join(a, same[0], "name")
                    break

    def by_look(
        self, look_a: Callable[[Layer], str], look_b: Callable[[Layer], str], *, between_only: bool = False
    ) -> None:
        if not between_only:
            self._unique(look_a, look_b)
        for left, right in list(self._stretches()):
            for at, to in aligned([look_a(a) for a in left], [look_b(b) for b in right]):
                self._join(left[at], right[to], "structure")

    def by_answer(self, first: Architecture, second: Architecture) -> None:
        """The layers that answer for the models, where there are as many in both and just one of each is left."""
        ends_a, ends_b = _ends(first), _ends(second)
        left = [layer for layer in self._a if layer.path in ends_a and layer.path not in self.found]
        right = [layer for layer in self._b if layer.path in ends_b and layer.path not in self._taken]
        if len(ends_a) == len(ends_b) and len(left) == len(right) == 1 and _one_size(left[0], right[0]):
            self._join(left[0], right[0], "structure")

    def by_neighbours(self) -> None:
        """A free layer, and the only free one of its size that reads what its partner would read."""
        readers: dict[str, list[Layer]] = {}
        for layer in self._b:
            for source in layer.inputs:
                readers.setdefault(source, []).append(layer)
        for a in self._a:
            if a.path in self.found or a.parameters:
                continue
            partners = [self.found[source][0] for source in a.inputs if source in self.found]
            fitting = {
                b.path: b
                for partner in partners
                for b in readers.get(partner, ())
                if b.path not in self._taken and not b.parameters and _one_size(a, b)
            }
            if len(fitting) == 1:
                self._join(a, next(iter(fitting.values())), "structure")

    def _unique(self, look_a: Callable[[Layer], str], look_b: Callable[[Layer], str]) -> None:
        left = self._free(self._a, self.found.__contains__)
        right = self._free(self._b, self._taken.__contains__)
        looks_a, looks_b = [look_a(a) for a in left], [look_b(b) for b in right]
        count_a, count_b = Counter(looks_a), Counter(looks_b)
        where = {look: b for look, b in zip(looks_b, right, strict=True) if count_b[look] == 1}
        for look, a in zip(looks_a, left, strict=True):
            if count_a[look] == 1 and look in where:
                self._join(a, where[look], "structure")

    def _stretches(self) -> Iterator[tuple[list[Layer], list[Layer]]]:
        """Free layers of both between neighbouring matches that keep the order: the longest increasing run of matches."""
        anchors = [(at, self._place_b[self.found[a.path][0]]) for at, a in enumerate(self._a) if a.path in self.found]
        kept = longest_increasing(anchors)
        ends = [(-1, -1), *kept, (len(self._a), len(self._b))]
        for (from_a, from_b), (to_a, to_b) in itertools.pairwise(ends):
            yield (
                self._free(self._a[from_a + 1 : to_a], self.found.__contains__),
                self._free(self._b[from_b + 1 : to_b], self._taken.__contains__),
            )


def _ends(architecture: Architecture) -> set[str]:
    """Paths of the layers that yield the outputs: as the file says, else those that nothing reads."""
    read = {source for layer in architecture.layers for source in layer.inputs}
    return set(architecture.output_layers) or {
        layer.path for layer in architecture.layers if layer.inputs and layer.path not in read
    }


def _one_size(a: Layer, b: Layer) -> bool:
    """Whether both answer as many values for a row; True where a file does not say."""
    if not a.output_shape or not b.output_shape:
        return True
    sizes = [math.prod(one or 1 for one in layer.output_shape[1:]) for layer in (a, b) if layer.output_shape]
    return sizes[0] == sizes[1]


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
