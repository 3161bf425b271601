"""How two models answer rows at the edges of what they can be given. It tells; the verdict does not rest on it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stethoscope.compare.both import OfBoth
from stethoscope.compare.parity.array_difference import array_difference, finite_or_none, largest_of
from stethoscope.compare.parity.comparison import EdgeAnswers, OutputPair
from stethoscope.compare.parity.edge_cases import EDGE_CASES, shape_of_answer
from stethoscope.compare.parity.inputs import TurnedInputs
from stethoscope.compare.parity.orientation import orient
from stethoscope.compare.parity.precision import Tolerance
from stethoscope.compare.parity.recording import Recording
from stethoscope.compare.parity.side import Side
from stethoscope.errors import StethoscopeError


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
            within &= not gap.nonfinite and (gap.nrmse <= limits.nrmse or gap.max_abs <= 1e-6)
            largest.append(finite_or_none(gap.max_abs))
            kinds.append(OfBoth(shape_of_answer(a[row]), shape_of_answer(oriented[1][row])))
        if kinds:
            found.append(EdgeAnswers(case.name, within, largest_of(largest), kinds[0].a, kinds[0].b))
    return found
