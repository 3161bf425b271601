"""What goes into the second model, in which preprocessing, and which of its inputs and outputs are which of the first's.

Which output (or input) of one model is which of the other: by name, by shape, by what the values say.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy.typing as npt

from stethoscope.compare.parity.array_difference import array_difference, candidates, orient
from stethoscope.compare.parity.comparison import InputCause, OutputPair
from stethoscope.compare.parity.layer_tensors import Clipped
from stethoscope.compare.parity.side import Side
from stethoscope.errors import StethoscopeError
from stethoscope.types import Feed, TensorSpec

_EXPLAINED = 0.05
"""A change of the input counts when it leaves no more than this share of the difference."""


class Turns(Protocol):
    """The first model's rows as the second takes them."""

    def feed(self, feed: Feed) -> Feed:
        """The feed of the second."""
        ...


_CUT = 0.01
"""Share of an input's values beyond its range that makes a difference of its own."""


def cut_off(clipped: Mapping[str, Clipped], name: str) -> InputCause | None:
    """What quantised inputs of a model cut off, told as `tried_inputs` does; None where it is little."""
    worst = max(clipped, key=lambda one: clipped[one][2], default=None)
    if worst is None or clipped[worst][2] < _CUT:
        return None
    low, high, share = clipped[worst]
    return InputCause(
        id="clipped-input",
        cause_id="clipped-range",
        title="The input's range is clipped",
        sentence=f"Input {worst!r} of {name} holds {low:.4g} to {high:.4g}; {share:.0%} of these values lie beyond and are cut off.",
        fix="Compare with rows like those of use, or quantise again with rows like these.",
        confidence=0.9,
        explains=None,
    )


def tried_inputs(
    second: Side, turns: Turns, feed: Feed, left: Feed, outputs: Sequence[OutputPair]
) -> InputCause | None:
    """The change of the input with which the second model answers as the first does; None where none of the usual ones does.

    A change counts only where the answers tell it from a slightly other one: saturated answers (a softmax that is sure of itself) are
    right with any large factor.
    """
    pictures = {name: array for name, array in feed.items() if array.dtype.kind == "f" and array.ndim >= 2}
    compared = [(one.a, one.b) for one in outputs if left[one.a].dtype.kind == "f"]
    if not pictures or not compared:
        return None
    tried = _Tried(second, turns, feed, pictures, left, compared)
    before = tried.apart(None)
    if before is None or before == 0:
        return None
    best: tuple[float, Change] | None = None
    for change in _CHANGES:
        if not all(change.applies(array) for array in pictures.values()):
            continue
        apart = tried.apart(change.apply)
        if apart is not None and apart <= _EXPLAINED * before and (best is None or apart < best[0]):
            best = (apart, change)
    if best is None or not tried.is_sure(best[1].apply, best[0]):
        return None
    explains = 1 - best[0] / before
    return InputCause(
        id=best[1].key,
        cause_id="preprocessing",
        title="Preprocessing inside or outside the model",
        sentence=f"Given {best[1].said}, the second model answers as the first does ({explains:.1%} of the difference is gone).",
        fix=f"Feed the second model {best[1].said}, or put that step into both.",
        confidence=0.98,
        explains=explains,
    )


_Apply = Callable[[npt.NDArray[Any]], npt.NDArray[Any]]
_NUDGE, _UNSURE = 0.02, 0.1


@dataclass(frozen=True)
class _Tried:
    """The second model on changed rows."""

    second: Side
    turns: Turns
    feed: Feed
    pictures: Feed
    left: Feed
    compared: Sequence[tuple[str, str]]

    def answers(self, apply: _Apply | None) -> list[npt.NDArray[Any]] | None:
        """Its outputs as the first's lie, in the order of `compared`; None where it refuses the rows, or the shapes are others."""
        changed = {} if apply is None else {n: apply(array).astype(array.dtype) for n, array in self.pictures.items()}
        try:
            found = self.second.outputs(self.turns.feed({**self.feed, **changed}))
        except StethoscopeError:
            if apply is None:
                raise
            return None
        made = [orient(self.left[a], found[b]) if b in found else None for a, b in self.compared]
        return [one[1] for one in made if one is not None] if None not in made else None

    def apart(self, apply: _Apply | None) -> float | None:
        """How far they are from the first's; None where they cannot be compared."""
        found = self.answers(apply)
        if found is None:
            return None
        off = [array_difference(self.left[a], one).nrmse for (a, _), one in zip(self.compared, found, strict=True)]
        return sum(off) if math.isfinite(sum(off)) else None

    def is_sure(self, apply: _Apply, apart: float) -> bool:
        """Whether the standard error of a factor before the change is small: what is left, against what the factor does.

        Source: Seber and Wild, Nonlinear Regression, 1989, 2.1.2.
        """
        at, beside = self.answers(apply), self.answers(lambda x: apply(x) * (1 + _NUDGE))
        if at is None or beside is None:
            return False
        moved = sum(array_difference(a, b).nrmse for a, b in zip(at, beside, strict=True)) / _NUDGE
        return apart <= _UNSURE * moved


@dataclass(frozen=True)
class Change:
    """A step of preprocessing that one of two models may lack."""

    key: str
    said: str
    apply: _Apply
    channel_axis: int | None = None
    """Where three channels must lie; None for whatever rows."""

    def applies(self, array: npt.NDArray[Any]) -> bool:
        """Whether rows can be so changed."""
        return self.channel_axis is None or (array.ndim == 4 and array.shape[self.channel_axis] == 3)


_REVERSED = "its channels in reverse order (BGR for RGB)"
_CHANGES: tuple[Change, ...] = (
    Change("channels", _REVERSED, lambda x: x[..., ::-1], -1),
    Change("channels-first", _REVERSED, lambda x: x[:, ::-1], 1),
    Change("divided", "its input divided by 255", lambda x: x / 255),
    Change("times", "its input times 255", lambda x: x * 255),
    Change("to-plus-minus", "its input divided by 127.5, less 1", lambda x: x / 127.5 - 1),
    Change("from-plus-minus", "its input plus 1, times 127.5", lambda x: (x + 1) * 127.5),
    Change("doubled", "twice its input, less 1", lambda x: 2 * x - 1),
    Change("halved", "its input plus 1, divided by 2", lambda x: (x + 1) / 2),
)
"""Source: keras.applications preprocess_input (0 to 255, 0 to 1 and -1 to 1, RGB and BGR), and from each of them to each other."""


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
