"""How two models answer rows at the edges of what they can be given. It tells; the verdict does not rest on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stethoscope.errors import StethoscopeError
from stethoscope.parity.array_difference import array_difference
from stethoscope.parity.edge_cases import EDGE_CASES, shape_of_answer
from stethoscope.parity.orientation import orient
from stethoscope.parity.precision import Tolerance
from stethoscope.parity.recording import Recording
from stethoscope.tasks.parity_inputs import TurnedInputs
from stethoscope.tasks.parity_side import Side


def edges(
    first: Recording,
    second: Side,
    turned: TurnedInputs,
    outputs: Sequence[Mapping[str, Any]],
    limits: Tolerance,
    batch_size: int | None,
    notes: list[str],
) -> list[dict[str, Any]]:
    """[{"case", "within", "max_abs_diff", "a", "b"}]; "a" and "b" say what the answers are (see `shape_of_answer`).

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
        told: dict[str, Any] = {"case": case.name, "within": True, "max_abs_diff": 0.0, "a": "", "b": ""}
        for one in outputs:
            a, b = first.edge_outputs[one["a"]], answers[one["b"]]
            if a.ndim == 0 or len(a) != len(EDGE_CASES) or a.dtype.kind not in "fiub":
                continue
            oriented = orient(a, b)
            if oriented is None:
                continue
            with np.errstate(all="ignore"):
                gap = array_difference(a[row], oriented[1][row])
            said = gap.to_json()["max_abs"]
            told["within"] &= not gap.nonfinite and (gap.nrmse <= limits.nrmse or gap.max_abs <= 1e-6)
            largest = told["max_abs_diff"]
            told["max_abs_diff"] = None if said is None or largest is None else max(largest, said)
            told["a"] = told["a"] or shape_of_answer(a[row])
            told["b"] = told["b"] or shape_of_answer(oriented[1][row])
        if told["a"]:
            found.append(told)
    return found
