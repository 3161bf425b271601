"""What a comparison of two models answers: the verdict, the outputs, the layers, and where they part.

Layers that the other model computes only together with a neighbour: there is nothing of their own to compare them with.

One thing of each of two models that are compared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from stethoscope.compare.parity.layer_pairs import How
from stethoscope.compare.parity.precision import Precision, Tolerance, Way
from stethoscope.evidence.row_scores import Measure
from stethoscope.types import Architecture

T = TypeVar("T")


@dataclass(frozen=True)
class OfBoth(Generic[T]):
    """What it is of the first model, and what of the other."""

    a: T
    b: T


Verdict = Literal["equal", "within_tolerance", "different"]


@dataclass(frozen=True)
class InputPair:
    """An input of the first model and the one of the other that gets the same rows."""

    a: str
    b: str
    orientation: str
    """How axes were moved for the other ("channels first"); "" where they were not."""


@dataclass(frozen=True)
class OutputPair:
    """An output of both models on the same rows; a measure is None where it has no finite value."""

    a: str
    b: str
    shape: tuple[int, ...]
    orientation: str
    max_abs_diff: float | None
    mean_abs_diff: float | None
    max_rel_diff: float | None
    nrmse: float | None
    """The root mean square difference as a share of both."""
    cosine: float | None
    sqnr_db: float | None
    """Signal to noise; None for equal arrays."""
    top1_agreement: float | None
    """The share of rows with the same class; None where there are no classes."""
    top5_agreement: float | None
    nonfinite: int
    """Places where just one of them is a number."""
    equal: bool
    within: bool
    """The tolerance."""


@dataclass(frozen=True)
class ComparedLayer:
    """A layer of the first model and its counterpart; a measure is None where it has no finite value."""

    key: str
    """Its own: a layer that is called twice has two."""
    a: str
    b: str
    how: How
    """How they were matched."""
    orientation: str
    nrmse: float | None
    """The root mean square difference as a share of both."""
    max_abs: float | None
    cosine: float | None
    sqnr_db: float | None
    """Signal to noise; None for equal arrays."""
    same: bool
    """Whether what went in and the precision explain the difference."""
    clipped: float | None = None
    """The share of the first's values that the other cannot represent; None where it keeps no integers."""
    range: tuple[float, float] | None = None
    """What the other's integers reach, as real numbers,"""
    step: float | None = None
    """and how far apart they are."""
    merged: bool = False
    """Whether the other computes it only together with a neighbour: then there is nothing to compare it with."""


@dataclass(frozen=True)
class WeighedCause:
    """Why two models may part."""

    cause: str
    """Its title."""
    cause_id: str
    sentence: str
    confidence: float
    """0 … 1."""
    layer: str
    """The first model's layer that it is about."""
    fix: str
    """What to do, a sentence; "" where we know of nothing."""


@dataclass(frozen=True)
class Parting:
    """The first layer at which two models part, and the likeliest cause."""

    a: str
    """The layer,"""
    b: str
    """and the other model's."""
    layer: str
    group: tuple[str, ...]
    """It, and before it the layers that the other model does not show, in order."""
    cause: str
    """Its title."""
    cause_id: str
    confidence: float
    """0 … 1."""
    sentence: str
    fix: str
    guesses: tuple[WeighedCause, ...] = ()
    """What else it could be, the likeliest first."""
    seen_at: OfBoth[str] | None = None
    """Where the answers were seen to differ; None where they part at the input."""
    nrmse: float | None = None
    """How far the answers are apart there, as a share of both; None where it has no finite value."""

    @property
    def place(self) -> tuple[str, str]:
        """The layers of both at which it was seen, else those that are named."""
        return (self.a, self.b) if self.seen_at is None else (self.seen_at.a, self.seen_at.b)


@dataclass(frozen=True)
class InputCause:
    """What is wrong with what goes into the other model."""

    id: str
    cause_id: str
    title: str
    sentence: str
    fix: str
    confidence: float
    explains: float | None
    """The share of the difference that is gone without it; None where that was not tried."""


@dataclass(frozen=True)
class EdgeAnswers:
    """What both answer to a row at the edge of what can be given."""

    case: str
    within: bool
    """The tolerance."""
    max_abs_diff: float | None
    """None where it is no finite number."""
    a: str
    b: str
    """"finite", "NaN", "infinite" or "mixed"."""


@dataclass(frozen=True)
class WorstRow:
    """A row on which both differ much; names and labels where the data has them, classes where the models give some."""

    place: int
    """In the data."""
    max_abs_diff: float | None
    name: str | None = None
    label: str | None = None
    top_a: int | None = None
    top_b: int | None = None
    value_a: float | None = None
    """The first's largest output,"""
    value_b: float | None = None
    """and the other's."""


@dataclass(frozen=True)
class Scores:
    """How often each is right. The interval is one of 95 % of the change."""

    metric: Measure
    a: float
    b: float
    change: float
    low: float
    high: float
    rows: int
    only_a_right: int | None = None
    """Rows; None where there are no classes."""
    only_b_right: int | None = None
    output: str = ""
    """The first model's output that is scored, where there are several."""
    of: int = 0
    """Rows in the data."""


@dataclass(frozen=True)
class Comparison:
    """Two models on the same rows. The layers are not there yet, nor any sentence, where a job is ended before it came to them."""

    verdict: Verdict
    outputs: tuple[OutputPair, ...]
    top1_agreement: float | None
    """The least of all outputs; None where there are no classes."""
    tolerance: Tolerance
    precision: OfBoth[Precision]
    rows: int
    layer_rows: int
    """Of these, those on which layers were compared."""
    source: str
    """Of the rows: "dummy" or the data file's name."""
    inputs: tuple[InputPair, ...]
    worst_rows: tuple[WorstRow, ...]
    """Those that differ most, first."""
    labels: Scores | None
    """None without labels that fit."""
    time_s: OfBoth[float]
    """Of the first call on all rows, set-up included."""
    peak_bytes: OfBoth[int]
    ways: OfBoth[Way]
    edges: tuple[EdgeAnswers, ...] = ()
    summary: str = ""
    """The verdict in a sentence,"""
    sentence: str = ""
    """and with where they part and why."""
    first_divergence: Parting | None = None
    layers: tuple[ComparedLayer, ...] = ()
    """Those that both have, in the order of the first model."""
    unmatched: OfBoth[tuple[str, ...]] = field(default_factory=lambda: OfBoth((), ()))
    """Keys of layers that only one of them has."""
    preprocessing: InputCause | None = None
    notes: tuple[str, ...] = ()


_HEALED = 0.1
"""A layer that reads another and is off by no more than this share of it has not read what was compared there."""

_FAR = 0.05
"""A difference from which a layer beside a far nearer one with the same counterpart is no pair, whatever went into it."""


def merged(rows: Sequence[ComparedLayer], parting: Parting | None, first: Architecture) -> set[str]:
    """Keys of the rows that are merged.

    A row is merged where its difference is large or not explained, the models do not part at it, and it belongs to the group in
    which they part, or another layer has the same counterpart and a far smaller difference, or a layer that reads it has.

    Args:
        rows: layers that both models have.
        parting: where they part.
        first: the first model's architecture, for which layer reads which.
    """
    at, there = ("", "") if parting is None else parting.place
    group = set(() if parting is None else parting.group) - {at}
    lowest: dict[str, float] = {}
    for one in rows:
        lowest[one.b] = min(lowest.get(one.b, math.inf), _off(one))
    off = {one.a: _off(one) for one in rows}
    if parting is not None and at and at not in off and parting.nrmse is not None:
        # Where they part there may be no row: the layer's own answer was found by computing it.
        off[at] = parting.nrmse
        lowest[there] = min(lowest.get(there, math.inf), off[at])
    readers: dict[str, list[str]] = {}
    for layer in first.layers:
        for name in layer.inputs:
            readers.setdefault(name, []).append(layer.path)
    found = set()
    for one in rows:
        nearer = _off(one) > lowest[one.b] / _HEALED
        if one.a == at or (one.same and not (nearer and _off(one) > _FAR)):
            continue
        healed = one.how == "structure" and any(
            off[name] <= _HEALED * _off(one) for name in readers.get(one.a, ()) if name in off
        )
        if one.a in group or nearer or healed:
            found.add(one.key)
    return found


def _off(row: ComparedLayer) -> float:
    return math.inf if row.nrmse is None else row.nrmse
