"""Which of two models is right more often, where rows have labels.

Pairs of layers as rows of the answer, and what they say that a verdict does not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.compare.both import OfBoth
from stethoscope.compare.parity.array_difference import finite_or_none
from stethoscope.compare.parity.comparison import ComparedLayer, InputCause, OutputPair, Parting, Scores
from stethoscope.compare.parity.layer_pairs import CutRange, TensorPair
from stethoscope.compare.parity.layer_tensors import LayerTensors
from stethoscope.types import Feed

_Z = 1.959964


def scored(
    left: Feed, right: Feed, outputs: Sequence[OutputPair], labels: Sequence[str | float] | None
) -> Scores | None:
    """How often each is right, by the first output that the labels fit; None where they fit none.

    The interval is that of a difference of paired shares (Newcombe, Interval estimation for the difference between independent
    proportions, 1998, simplest paired form): 95 %. For numbers, the metric is the mean absolute error.
    """
    if labels is None:
        return None
    found = ((pair.a, _scored(left[pair.a], right[pair.b], labels)) for pair in outputs)
    return next(
        (replace(scores, output=name if len(outputs) > 1 else "") for name, scores in found if scores is not None), None
    )


def _scored(a: npt.NDArray[Any], b: npt.NDArray[Any], labels: Sequence[str | float]) -> Scores | None:
    if a.shape != b.shape or a.dtype.kind != "f" or a.ndim != 2 or len(a) != len(labels):
        return None
    truth = _numbers(labels)
    if truth is None:
        return None
    if a.shape[1] == 1 and not _are_classes(truth, 2):
        return _errors(a[:, 0], b[:, 0], truth)
    classes = max(2, a.shape[1])
    if not _are_classes(truth, classes):
        return None
    found = [_chosen(one) == truth for one in (a, b)]
    only_a, only_b = int((found[0] & ~found[1]).sum()), int((found[1] & ~found[0]).sum())
    rows = len(truth)
    change = (only_b - only_a) / rows
    half = _Z * math.sqrt(max(1.0, only_a + only_b - (only_b - only_a) ** 2 / rows)) / rows
    return Scores(
        metric="accuracy",
        a=float(found[0].mean()),
        b=float(found[1].mean()),
        change=change,
        low=max(-1.0, change - half),
        high=min(1.0, change + half),
        rows=rows,
        only_a_right=only_a,
        only_b_right=only_b,
    )


def _errors(a: npt.NDArray[Any], b: npt.NDArray[Any], truth: npt.NDArray[np.float64]) -> Scores:
    left, right = np.abs(a - truth), np.abs(b - truth)
    gap = (right - left).astype(np.float64)
    half = _Z * float(gap.std(ddof=1)) / math.sqrt(len(gap)) if len(gap) > 1 else math.inf
    change = float(gap.mean())
    return Scores(
        metric="mean absolute error",
        a=float(left.mean()),
        b=float(right.mean()),
        change=change,
        low=change - half,
        high=change + half,
        rows=len(truth),
    )


def _chosen(answers: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    if answers.shape[1] > 1:
        return np.asarray(answers.argmax(axis=1), np.float64)
    bound = 0.5 if float(answers.min()) >= 0 and float(answers.max()) <= 1 else 0.0
    return np.asarray(answers[:, 0] > bound, np.float64)


def _numbers(labels: Sequence[str | float]) -> npt.NDArray[np.float64] | None:
    try:
        return np.array([float(label) for label in labels])
    except ValueError:
        return None


def _are_classes(truth: npt.NDArray[np.float64], count: int) -> bool:
    return bool(np.all(truth == np.round(truth)) and truth.min(initial=0) >= 0 and truth.max(initial=0) < count)


def layer_row(one: TensorPair, first: LayerTensors, second: LayerTensors, same: bool) -> ComparedLayer:
    """A pair as the answer has it; `same` is whether its difference is explained."""
    row = ComparedLayer(
        key=one.a,
        a=first.layers[one.a],
        b=second.layers[one.b],
        how=one.how,
        orientation=one.orientation.said(),
        nrmse=finite_or_none(one.difference.nrmse),
        max_abs=finite_or_none(one.difference.max_abs),
        cosine=one.difference.cosine,
        sqnr_db=one.difference.sqnr_db,
        same=same,
    )
    if one.b not in second.quantised:
        return row
    low, high = second.quantised[one.b]
    values = first.read(one.a)
    clipped = float(np.mean((values < low) | (values > high)))
    return replace(row, clipped=clipped, range=(low, high), step=second.steps[one.b])


def at_the_input(tried: InputCause, tensors: LayerTensors, pairs: Mapping[str, TensorPair]) -> Parting:
    """Where models part that part before their first layer, where a change of the input explains it."""
    key = next((one for one in tensors if one in pairs), None)
    return Parting(
        a=tensors.layers[key] if key else "",
        b=pairs[key].b if key else "",
        layer=tensors.layers[key] if key else "",
        group=(),
        cause=tried.title,
        cause_id=tried.cause_id,
        confidence=tried.confidence,
        sentence=tried.sentence,
        fix=tried.fix,
    )


def at_the_cut(cut: CutRange, first: LayerTensors, second: LayerTensors, name: str) -> Parting:
    """Where models part whose outputs are within tolerance although a layer cuts off what it should hold."""
    layer, there = first.layers[cut.pair.a], second.layers[cut.pair.b]
    told = (
        f"{layer!r} of {name} holds {cut.low:.3g} to {cut.high:.3g}: {cut.share:.1%} of what it should answer lies beyond and is cut off, "
        f"which explains {1 - cut.left:.0%} of its difference."
    )
    return Parting(
        a=layer,
        b=there,
        layer=layer,
        group=(layer,),
        cause="The range is clipped",
        cause_id="clipped-range",
        confidence=0.92 if cut.left < 0.1 else 0.75,
        sentence=told,
        fix="Find the ranges again with rows like those of use (the representative data set), or widen this tensor's.",
        seen_at=OfBoth(layer, there),
        nrmse=finite_or_none(cut.pair.difference.nrmse),
    )
