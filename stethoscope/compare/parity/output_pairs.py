"""Which output (or input) of one model is which of the other: by name, by shape, by what the values say."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from stethoscope.compare.parity.array_difference import array_difference, candidates, orient
from stethoscope.types import Feed, TensorSpec

_NUMBERS = re.compile(r"[_:/.]?\d+$")
_MOST_TRIED = 8


def plain_name(name: str) -> str:
    """What is left of a name when prefixes and numbers that exports add are gone."""
    short = (
        name.rsplit("/", 1)[-1]
        .partition(":")[0]
        .removeprefix("serving_default_")
        .removeprefix("StatefulPartitionedCall_")
    )
    while (cut := _NUMBERS.sub("", short)) and cut != short:
        short = cut
    return short.lower()


def pair_inputs(first: Sequence[TensorSpec], second: Sequence[TensorSpec]) -> dict[str, str]:
    """The first model's input for each input of the second; those without one are left out.

    By name, then by what is left of the name, then by shape and kind where only one fits, then by place.
    """
    found: dict[str, str] = {}
    names_a = [spec.name for spec in first]

    def free() -> list[TensorSpec]:
        return [spec for spec in first if spec.name not in found.values()]

    for spec in second:
        if spec.name in names_a:
            found[spec.name] = spec.name
    for spec in second:
        if spec.name not in found:
            alike = [one for one in free() if plain_name(one.name) == plain_name(spec.name)]
            if len(alike) == 1:
                found[spec.name] = alike[0].name
    for spec in second:
        if spec.name not in found:
            fitting = [one for one in free() if _fits(one, spec)]
            if len(fitting) == 1:
                found[spec.name] = fitting[0].name
    rest = [spec for spec in second if spec.name not in found]
    if len(rest) == len(free()):
        found |= {spec.name: one.name for spec, one in zip(rest, free(), strict=True)}
    return found


def pair_outputs(first: Feed, second: Feed) -> dict[str, str]:
    """The second model's output for each output of the first: by name, by what is left of it, else as the values fit best."""
    found = {name: name for name in first if name in second}
    for name in first:
        if name in found:
            continue
        alike = [one for one in second if one not in found.values() and plain_name(one) == plain_name(name)]
        if len(alike) == 1 and any(True for _ in candidates(first[name].shape, second[alike[0]].shape)):
            found[name] = alike[0]
    rest_a = [name for name in first if name not in found]
    rest_b = [name for name in second if name not in found.values()]
    if not rest_a or not rest_b:
        return found
    if len(rest_a) == len(rest_b) == 1:
        return found | {rest_a[0]: rest_b[0]}
    if max(len(rest_a), len(rest_b)) > _MOST_TRIED:
        return found | dict(zip(rest_a, rest_b, strict=False))
    off = {(a, b): _off(first, second, a, b) for a in rest_a for b in rest_b}
    short, long, turned = (rest_a, rest_b, False) if len(rest_a) <= len(rest_b) else (rest_b, rest_a, True)

    def cost(order: Sequence[str]) -> float:
        return sum(off[(b, a) if turned else (a, b)] for a, b in zip(short, order, strict=False))

    best = min(itertools.permutations(long, len(short)), key=cost)
    return found | {(b if turned else a): (a if turned else b) for a, b in zip(short, best, strict=True)}


def _off(first: Feed, second: Feed, a: str, b: str) -> float:
    """How badly two outputs fit; 10 where their shapes do not."""
    left, right = first[a], second[b]
    if left.dtype.kind not in "fiub" or right.dtype.kind not in "fiub":
        return 5.0 if left.shape == right.shape else 10.0
    turned = orient(left, right)
    return 10.0 if turned is None else min(2.0, array_difference(left, turned[1]).nrmse)


def _fits(one: TensorSpec, other: TensorSpec) -> bool:
    if one.shape is None or other.shape is None:
        return True
    sizes = [sorted(size for size in spec.shape[1:] if size not in (None, 1)) for spec in (one, other)]  # type: ignore[index]
    open_ones = None in one.shape[1:] or None in other.shape[1:]
    return (open_ones and len(one.shape) == len(other.shape)) or sizes[0] == sizes[1]
