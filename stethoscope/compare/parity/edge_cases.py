"""Rows at the edges of what a model can be given: zeros, the very small and very large, infinities, no number at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data.feeds.dummy import Draw
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
