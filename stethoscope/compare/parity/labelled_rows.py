"""How right two models are on all rows that have labels: each predicts them in its own process, in the same order.

The order of batches is drawn, so that whoever runs out of time has seen rows from everywhere, and both have seen the first ones.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.activations.model_rows import ModelRows
from stethoscope.compare.parity.comparison import OutputPair, Scores
from stethoscope.evidence.row_scores import RowScores, row_scores, signed
from stethoscope.types import Feed

SECONDS, MOST_BYTES = 30.0, 256 << 20
"""Of predicting by one model, and of its answers."""
BATCH_SIZE = 64
_Z = 1.959964


@dataclass(frozen=True)
class Labelled:
    """What one model answers to rows with labels."""

    places: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    outputs: Feed = field(default_factory=dict)
    targets: Feed = field(default_factory=dict)


def predicted(
    given: ModelRows,
    call: Callable[[Feed], Feed],
    report: Callable[[float], None],
    batch_size: int | None,
    wanted: npt.NDArray[np.int64] | None = None,
    seconds: float = SECONDS,
) -> Labelled:
    """Predicts rows with labels, all of them where time and memory allow.

    Args:
        given: the rows, by the first model's names.
        call: one of the models.
        report: told the share of rows that are done.
        batch_size: rows in a call; `BATCH_SIZE` for None.
        wanted: places that the other model has predicted; all for None.
        seconds: in which no further call is begun.
    """
    until, done = time.monotonic() + seconds, 0
    places: list[npt.NDArray[np.int64]] = []
    outputs: dict[str, list[npt.NDArray[Any]]] = {}
    targets: dict[str, list[npt.NDArray[Any]]] = {}
    left = given.rows if wanted is None else len(wanted)
    for at, feed in given.shuffled(batch_size or BATCH_SIZE):
        if left <= 0 or (done and (time.monotonic() > until or _bytes(outputs) > MOST_BYTES)):
            break
        labels = given.targets(at)
        if not labels:
            return Labelled()
        answers = call(feed)
        places.append(at)
        for kept, arrays in ((outputs, answers), (targets, labels)):
            for name, array in arrays.items():
                if array.ndim and len(array) == len(at):
                    kept.setdefault(name, []).append(array)
        done, left = done + len(at), left - len(at)
        report(done / max(1, done + left))
    if not places:
        return Labelled()
    count = sum(map(len, places))
    return Labelled(np.concatenate(places), _joined(outputs, count), _joined(targets, count))


def _bytes(parts: dict[str, list[npt.NDArray[Any]]]) -> int:
    return sum(array.nbytes for arrays in parts.values() for array in arrays)


def _joined(parts: dict[str, list[npt.NDArray[Any]]], count: int) -> Feed:
    return {
        name: np.concatenate(arrays)
        for name, arrays in parts.items()
        if sum(map(len, arrays)) == count and len({array.shape[1:] for array in arrays}) == 1
    }


def scored(left: Feed, right: Feed, outputs: Sequence[OutputPair], targets: Feed, rows: int = 0) -> Scores | None:
    """How often each is right, by the first output that labels fit; None where they fit none.

    The interval is that of a difference of paired shares (Newcombe, Interval estimation for the difference between independent
    proportions, 1998, simplest paired form): 95 %. Of other measures it is that of the mean difference.

    Args:
        left: the first model's answers to the rows.
        right: the other's.
        outputs: which belong together.
        targets: labels of the rows by the first model's outputs.
        rows: in the data; 0 for as many as were scored.
    """
    lone = next(iter(targets.values())) if len(targets) == 1 else None
    for pair in outputs:
        truth = targets.get(pair.a, lone)
        if truth is None or pair.a not in left or pair.b not in right:
            continue
        found = _scored(left[pair.a], right[pair.b], truth)
        if found is not None:
            return replace(found, output=pair.a if len(outputs) > 1 else "", of=rows or found.rows)
    return None


def _scored(a: npt.NDArray[Any], b: npt.NDArray[Any], truth: npt.NDArray[Any]) -> Scores | None:
    sides = row_scores(a, truth), row_scores(b, truth)
    if a.shape != b.shape or sides[0] is None or sides[1] is None or sides[0].measure != sides[1].measure:
        return None
    return _beside(sides[0], sides[1])


def _beside(a: RowScores, b: RowScores) -> Scores | None:
    _, first, second = np.intersect1d(a.rows, b.rows, return_indices=True)
    if not len(first):
        return None
    left, right, rows = a.values[first], b.values[second], len(first)
    gap = right - left
    change = float(gap.mean())
    only_a, only_b = int((gap < 0).sum()), int((gap > 0).sum())
    if a.whole:
        half = _Z * math.sqrt(max(1.0, only_a + only_b - (only_b - only_a) ** 2 / rows)) / rows
        low, high = max(-1.0, change - half), min(1.0, change + half)
    else:
        half = _Z * float(gap.std(ddof=1)) / math.sqrt(rows) if rows > 1 else math.inf
        low, high = change - half, change + half
    return Scores(
        metric=a.measure,
        a=float(left.mean()),
        b=float(right.mean()),
        change=change,
        low=low,
        high=high,
        rows=rows,
        only_a_right=only_a if a.whole else None,
        only_b_right=only_b if a.whole else None,
    )


def sentence(scores: Scores) -> str:
    """Both scores in words, with the interval of their difference and the rows."""
    of = (
        f"{scores.rows:,} of {scores.of:,} rows, drawn at random"
        if scores.rows < scores.of
        else f"{scores.rows:,} rows"
    )
    where = f" of output {scores.output!r}" if scores.output else ""
    interval = (
        f"95 % {signed(scores.low)} … {signed(scores.high)}" if math.isfinite(scores.low + scores.high) else "one row"
    )
    moved = f"change {signed(scores.change)}, {interval}" if scores.change or scores.only_a_right else "no change"
    return f"{scores.metric.capitalize()}{where}: {scores.a:.3f} → {scores.b:.3f} ({moved}), on {of}."
