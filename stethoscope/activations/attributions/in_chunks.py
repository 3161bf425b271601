"""Many variants of one row, asked in chunks that the model takes and memory holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.activations.attributions.method import Point, Question, Report, Slope, Subject
from stethoscope.data.feeds.batching import Batching
from stethoscope.types import Feed

_CHUNK_VALUES = 4_000_000
_MOST_ROWS = 64


def rows_at_once(question: Question, subject: Subject) -> int:
    """How many variants of the row go into one call."""
    fixed = Batching.of(subject.inputs).fixed
    if fixed is not None:
        return max(1, fixed)
    size = sum(array.size for array in question.feed.values())
    return max(1, min(_MOST_ROWS, _CHUNK_VALUES // max(1, 16 * size)))


def repeated(feed: Feed, count: int, inputs: Any) -> Feed:
    """One row of each input, `count` times; inputs without rows stay as they are."""
    names = Batching.of(inputs).names
    return {
        name: np.repeat(array[:1], count, axis=0) if name in names and array.ndim else array
        for name, array in feed.items()
    }


def score_variants(
    subject: Subject, question: Question, variants: Iterator[npt.NDArray[Any]], count: int, report: Report
) -> npt.NDArray[Any]:
    """Scores of `count` variants of the explained input, each (…) without the rows' dimension: (count,) float64."""
    size = rows_at_once(question, subject)
    found: list[npt.NDArray[Any]] = []
    done = 0
    while done < count:
        part = [variant for _, variant in zip(range(min(size, count - done)), variants, strict=False)]
        kept = len(part)
        part += [part[-1]] * (size - kept if Batching.of(subject.inputs).fixed is not None else 0)
        feed = repeated(question.feed, len(part), subject.inputs) | {question.name: np.stack(part)}
        found.append(subject.scores(feed, question.target)[:kept])
        done += kept
        report(done / count, f"{done:,} of {count:,} variants")
    return np.concatenate(found) if found else np.zeros(0)


def slopes(
    subject: Subject, question: Question, variants: Mapping[Point, npt.NDArray[Any]], points: list[Point]
) -> Slope:
    """Slopes at variants of each point, (variants, …), the other inputs as in the question."""
    count = len(next(iter(variants.values())))
    size = rows_at_once(question, subject)
    fixed = Batching.of(subject.inputs).fixed
    parts: list[Slope] = []
    for start in range(0, count, size):
        kept = min(size, count - start)
        rows = fixed or kept
        index = np.minimum(np.arange(rows), kept - 1) + start
        feed = repeated(question.feed, rows, subject.inputs)
        given = {point: array[index] for point, array in variants.items() if point.kind == "layer"}
        feed |= {
            point.name: array[index].astype(feed[point.name].dtype)
            for point, array in variants.items()
            if point.kind == "input"
        }
        found = subject.slope(feed, question.target, points, given)
        parts.append(
            Slope(
                found.scores[:kept],
                {point: array[:kept] for point, array in found.values.items()},
                {point: array[:kept] for point, array in found.gradients.items()},
            )
        )
    if len(parts) == 1:
        return parts[0]
    return Slope(
        np.concatenate([part.scores for part in parts]),
        {point: np.concatenate([part.values[point] for part in parts]) for point in parts[0].values},
        {point: np.concatenate([part.gradients[point] for part in parts]) for point in parts[0].gradients},
    )
