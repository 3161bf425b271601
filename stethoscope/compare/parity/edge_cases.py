"""Rows at the edges of what models can be given, and how two models answer them. The verdict does not rest on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.compare.parity.array_difference import array_difference, candidates, finite_or_none, largest_of, orient
from stethoscope.compare.parity.comparison import EdgeAnswers, InputPair, OfBoth, OutputPair
from stethoscope.compare.parity.layer_tensors import Recording
from stethoscope.compare.parity.precision import Tolerance
from stethoscope.compare.parity.side import Side
from stethoscope.compare.parity.yardstick import NOTHING
from stethoscope.data.dummy import Draw
from stethoscope.errors import StethoscopeError
from stethoscope.types import Feed, TensorSpec


@dataclass(frozen=True)
class EdgeCase:
    """One row in which every input is at an edge."""

    name: str
    """As people say it."""
    number: float
    """What floating inputs are filled with."""
    highest: bool = False
    """Whether inputs of whole numbers get the highest one they may have; else the lowest."""
    text: str = ""
    """What inputs of text get."""


EDGE_CASES: tuple[EdgeCase, ...] = (
    EdgeCase("all zeros", 0.0),
    EdgeCase("all ones", 1.0, highest=True, text="a"),
    EdgeCase("all minus one", -1.0, text="A"),
    EdgeCase("very small (1e-30)", 1e-30, highest=True, text=" "),
    EdgeCase("large (1e4)", 1e4, highest=True, text="a" * 2_000),
    EdgeCase("NaN", np.nan, text="\N{SNOWMAN} ñ"),
    EdgeCase("infinity", np.inf, highest=True, text="0"),
    EdgeCase("minus infinity", -np.inf, text="\n"),
)


def edge_feed(feed: Feed, inputs: Sequence[TensorSpec], draws: Sequence[Draw], batched: frozenset[str]) -> Feed | None:
    """A row for each of `EDGE_CASES`, in their order, of the sizes that the rows of `feed` have.

    Args:
        feed: rows that the model accepts.
        inputs: of the model.
        draws: what values each input may have.
        batched: the inputs that have rows.

    Returns:
        The feed; None where an input has no rows, or none of the inputs has anything at an edge.
    """
    if not batched or any(spec.name not in batched for spec in inputs):
        return None
    found: Feed = {}
    for spec, draw in zip(inputs, draws, strict=True):
        array = feed[spec.name]
        values = [_value(one, draw, array) for one in EDGE_CASES]
        rows = [np.full(array.shape[1:], value, dtype=array.dtype) for value in values]
        found[spec.name] = np.stack(rows)
    return found


def _value(case: EdgeCase, draw: Draw, array: npt.NDArray[Any]) -> Any:
    if array.dtype.kind in "OSU":
        return case.text
    if array.dtype.kind == "b":
        return case.highest
    if draw.kind == "integers":
        return draw.high - 1 if case.highest else draw.low
    if draw.kind == "ones":
        return 1
    if draw.kind == "zeros" or array.dtype.kind in "iu":
        return 0
    return case.number


def shape_of_answer(values: npt.NDArray[Any]) -> str:
    """What an answer to an edge case is, in a word: "finite", "NaN", "infinite" or "mixed"."""
    if values.dtype.kind not in "fc":
        return "finite"
    kinds = [
        word
        for word, there in (("finite", np.isfinite(values)), ("NaN", np.isnan(values)), ("infinite", np.isinf(values)))
        if there.any()
    ]
    return kinds[0] if len(kinds) == 1 else "mixed" if kinds else "finite"


def edges(
    first: Recording,
    second: Side,
    turned: TurnedInputs,
    outputs: Sequence[OutputPair],
    limits: Tolerance,
    batch_size: int | None,
    notes: list[str],
) -> list[EdgeAnswers]:
    """What both answer to each edge case.

    Empty where the first model has no edge cases, or the second does not answer them; `notes` then says why.
    """
    if not first.edges:
        return []
    try:
        answers = second.outputs(turned.feed(first.edges), batch_size)
    except StethoscopeError as error:
        notes.append(f"Edge cases are not compared: {error}")
        return []
    found = []
    for row, case in enumerate(EDGE_CASES):
        within, largest, kinds = True, list[float | None](), list[OfBoth[str]]()
        for output in outputs:
            a, b = first.edge_outputs[output.a], answers[output.b]
            if a.ndim == 0 or len(a) != len(EDGE_CASES) or a.dtype.kind not in "fiub":
                continue
            oriented = orient(a, b)
            if oriented is None:
                continue
            with np.errstate(all="ignore"):
                gap = array_difference(a[row], oriented[1][row])
            within &= not gap.nonfinite and (gap.nrmse <= limits.nrmse or gap.max_abs <= NOTHING)
            largest.append(finite_or_none(gap.max_abs))
            kinds.append(OfBoth(shape_of_answer(a[row]), shape_of_answer(oriented[1][row])))
        if kinds:
            found.append(EdgeAnswers(case.name, within, largest_of(largest), kinds[0].a, kinds[0].b))
    return found


class TurnedInputs:
    """Inputs of the first model as the second takes them."""

    def __init__(self, inputs: Mapping[str, str], specs: Sequence[Any]) -> None:
        self._inputs, self._specs = inputs, {spec.name: spec for spec in specs}
        self._orders: dict[str, Any] = {}

    def feed(self, feed: Feed) -> Feed:
        """The feed by the second model's names; channels first or last where that is how it takes them."""
        found: Feed = {}
        for name, original in self._inputs.items():
            array, spec = feed[original], self._specs[name]
            wanted = spec.shape
            if wanted is not None and len(wanted) == array.ndim and not _fits(array.shape, wanted):
                turned = next(
                    (one for one in candidates(_filled(wanted, array.shape), array.shape) if not one.is_plain), None
                )
                if turned is not None:
                    self._orders[name] = turned
                    array = turned.apply(array, _filled(wanted, array.shape))
            found[name] = array
        return found

    def pairs(self) -> tuple[InputPair, ...]:
        """Which input of the first went into which of the second, and how it was turned."""
        return tuple(
            InputPair(original, name, self._orders[name].said() if name in self._orders else "")
            for name, original in self._inputs.items()
        )


def _fits(shape: Sequence[int], wanted: Sequence[int | None]) -> bool:
    return all(
        size is None or place == 0 or size == have for place, (size, have) in enumerate(zip(wanted, shape, strict=True))
    )


def _filled(wanted: Sequence[int | None], shape: Sequence[int]) -> tuple[int, ...]:
    """The wanted shape with what is open taken from what is left of the array's sizes."""
    rest = list(shape[1:])
    for size in wanted[1:]:
        if size in rest:
            rest.remove(size)
    return (shape[0], *(size if size is not None else (rest.pop(0) if rest else 1) for size in wanted[1:]))
