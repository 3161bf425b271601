"""What a method of attribution gets and gives: a subject that can be asked, a question, and an answer as arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from stethoscope.activations.attributions.target import Target
from stethoscope.types import Feed, TensorSpec

if TYPE_CHECKING:
    import numpy.typing as npt

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
