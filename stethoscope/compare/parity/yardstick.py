"""The one yardstick for the outputs of two models: what comparing and converting call equal, within tolerance or different."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.compare.parity.array_difference import (
    array_difference,
    decided_agreement,
    finite_or_none,
    orient,
    top_agreement,
)
from stethoscope.compare.parity.comparison import OutputPair, Verdict
from stethoscope.compare.parity.precision import Tolerance

NOTHING = 1e-6
"""What is numerically nothing: rounding leaves this much of a sum in float32 whose parts are about 1, however small it is."""
_UNDECIDED = 1 / 3
"""Of the tolerance: a class that is preferred by less may turn into another by rounding alone."""


def compared(a: str, b: str, left: npt.NDArray[Any], right: npt.NDArray[Any], limits: Tolerance) -> OutputPair | None:
    """One output beside its counterpart; None where their sizes differ."""
    if left.dtype.kind not in "fiub" or right.dtype.kind not in "fiub":
        if left.shape != right.shape:
            return None
        same = float(np.mean(left.astype(str) == right.astype(str))) if left.size else 1.0
        return _no_numbers(a, b, left.shape, 1.0 - same)
    turned = orient(left, right)
    if turned is None:
        return None
    found = array_difference(left, turned[1])
    top1, top5 = top_agreement(left, turned[1]), top_agreement(left, turned[1], 5)
    near = found.nrmse <= limits.nrmse or found.max_abs <= NOTHING
    decided = decided_agreement(left, turned[1], _UNDECIDED * limits.nrmse)
    classes = limits.top1 is None or decided is None or decided >= limits.top1
    return OutputPair(
        a=a,
        b=b,
        shape=left.shape,
        orientation=turned[0].said(),
        max_abs_diff=finite_or_none(found.max_abs),
        mean_abs_diff=finite_or_none(found.mean_abs),
        max_rel_diff=finite_or_none(found.max_rel),
        nrmse=finite_or_none(found.nrmse),
        cosine=found.cosine,
        sqnr_db=found.sqnr_db,
        top1_agreement=top1,
        top5_agreement=top5,
        nonfinite=found.nonfinite,
        equal=found.max_abs == 0,
        within=bool(near and classes and not found.nonfinite),
    )


def _no_numbers(a: str, b: str, shape: tuple[int, ...], gap: float) -> OutputPair:
    same = gap == 0
    return OutputPair(a, b, shape, "", gap, gap, gap, gap, None, None, None, None, nonfinite=0, equal=same, within=same)


def verdict_of(outputs: Sequence[OutputPair]) -> Verdict:
    """The worst of all outputs."""
    if all(output.equal for output in outputs):
        return "equal"
    return "within_tolerance" if all(output.within for output in outputs) else "different"
