"""Pairs of layers as rows of the answer, and what they say that a verdict does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from stethoscope.compare.both import OfBoth
from stethoscope.compare.parity.array_difference import finite_or_none
from stethoscope.compare.parity.comparison import ComparedLayer, InputCause, Parting
from stethoscope.compare.parity.cut_range import CutRange
from stethoscope.compare.parity.layer_pairs import TensorPair
from stethoscope.compare.parity.layer_tensors import LayerTensors


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
