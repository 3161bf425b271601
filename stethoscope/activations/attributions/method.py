"""What a method of attribution gets and gives: a subject that can be asked, a question, and an answer as arrays.

From gradients where an input becomes numbers (itself, or its embeddings) to one value for each part of the input.

Many variants of one row, asked in chunks that the model takes and memory holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from stethoscope.activations.attributions.target import Target
from stethoscope.data.batching import Batching
from stethoscope.errors import CannotRun
from stethoscope.types import Feed, TensorSpec

InputKind = Literal["image", "features", "tokens", "sequence"]


@dataclass(frozen=True)
class Point:
    """A tensor by which an output can be differentiated."""

    kind: Literal["input", "layer"]
    name: str
    """An input's name, or a layer's path."""


@dataclass(frozen=True)
class Slope:
    """Scores of a feed's rows, and how they change with each point."""

    scores: npt.NDArray[Any]
    """(rows,) float64."""
    values: Mapping[Point, npt.NDArray[Any]]
    """What stood at each point: (rows, …)."""
    gradients: Mapping[Point, npt.NDArray[Any]]
    """d score of a row / d value at the point, of the values' shapes."""


class Subject(Protocol):
    """An opened model as attributions see it."""

    name: str
    """The file's name, for sentences."""
    inputs: tuple[TensorSpec, ...]
    no_gradients: str
    """Why it cannot be differentiated; "" where it can."""

    def scores(self, feed: Feed, target: Target) -> npt.NDArray[Any]:
        """The score of each row, from the outputs as they are: (rows,) float64."""
        ...

    def slope(self, feed: Feed, target: Target, points: Sequence[Point], given: Mapping[Point, Any]) -> Slope:
        """Differentiates the scores by `points`.

        Args:
            feed: rows for each input.
            target: what is scored; before the last softmax or sigmoid where `target.raw` and the model allows.
            points: by what.
            given: values to put in place of a layer's output: (rows, …).

        Raises:
            CannotRun: there is no gradient; says why.
        """
        ...

    def points(self, feed: Feed, name: str) -> list[Point]:
        """Where an input first stands as numbers that can change a little: itself, or what its embedding gives.

        Raises:
            CannotRun: it goes nowhere that can be differentiated.
        """
        ...

    def is_raw(self, target: Target) -> bool:
        """Whether `slope` would score before the last softmax or sigmoid."""
        ...


@dataclass(frozen=True)
class Question:
    """One row, one score, one input that is to explain it."""

    feed: Feed
    """One row for each input: (1, …)."""
    target: Target
    name: str
    """The input that is explained; the others stay as they are."""
    kind: InputKind
    channel_axis: int | None
    """Of an image or sequence, counted in one row; None without channels."""
    baseline: npt.NDArray[Any]
    """What stands for "nothing" at this input: one row of its shape, (1, …)."""
    baseline_id: str
    options: Mapping[str, Any] = field(default_factory=dict)
    """The method's own: {"steps", "layer", "patch", "stride", "tolerance", "samples", "seed"}."""

    @property
    def row(self) -> npt.NDArray[Any]:
        """The explained input's one row: (1, …)."""
        return self.feed[self.name]


@dataclass(frozen=True)
class Attribution:
    """How much each part of the input speaks for the score (above zero) or against it (below)."""

    values: npt.NDArray[Any]
    """float64: the shape of one row of the input; (tokens,) for tokens; (height, width) or (time,) of the layer for Grad-CAM."""
    score: float
    baseline_score: float | None = None
    completeness_error: float | None = None
    """|sum of the values − (score − baseline score)| as a share of that difference."""
    steps: int | None = None
    layer: str = ""
    raw: bool = False
    """Whether the score was taken before the last softmax or sigmoid."""
    signed: bool = True
    """False where values below zero cannot occur."""
    notes: tuple[str, ...] = ()


Report = Callable[[float, str], None]


class Method(Protocol):
    """One way to attribute. One file in `stethoscope/activations/attributions/` each, its `METHOD`."""

    id: str
    title: str
    place: int
    """In which order methods are offered."""
    about: str
    """One sentence for people: what it tells."""
    source: str
    needs_gradients: bool
    kinds: tuple[InputKind, ...]
    """Which inputs it makes sense for."""

    def explain(self, subject: Subject, question: Question, report: Report) -> Attribution:
        """Answers the question.

        Raises:
            CannotRun: the model does not allow it; says why and what does.
            BadSetting: an option makes no sense.
        """
        ...


def slope_at_input(subject: Subject, question: Question) -> tuple[list[Point], Slope]:
    """Points of the explained input, and the slope at the row as it is.

    Raises:
        CannotRun: there is no gradient.
    """
    if subject.no_gradients:
        raise CannotRun(f"{subject.name}: {subject.no_gradients} Occlusion works for any model.")
    points = subject.points(question.feed, question.name)
    return points, subject.slope(question.feed, question.target, points, {})


def folded(question: Question, shares: Mapping[Point, npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Sums what belongs to one part of the input: a token's numbers in its embedding, several embeddings of one input.

    Args:
        question: tells the input's shape.
        shares: attributions at each point, of one row: (…).
    """
    wanted = question.row.shape[1:]
    total = np.zeros(wanted, np.float64)
    for share in shares.values():
        if share.shape == wanted:
            total += share
        elif share.shape[: len(wanted)] == wanted:
            total += share.reshape(*wanted, -1).sum(axis=-1)
        else:
            total += share.sum() / max(1, total.size)
    return total


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
