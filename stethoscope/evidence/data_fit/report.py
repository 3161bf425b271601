"""What a comparison of a model's description with rows of data answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from stethoscope.data.dataset import DataAbout
from stethoscope.data.study.numbers import Histogram
from stethoscope.evidence.data_fit.expected_input import Kind, Mode
from stethoscope.types import Shape

What = Literal["array", "shape", "text", "dtype", "missing", "range"]
LabelCode = Literal["numbers", "one-hot", "either", "yes-no", "tags", "signs", "values", ""]
Steps = tuple[Mapping[str, Any], ...]
"""Steps of a preparation, as JSON."""


@dataclass(frozen=True)
class Misfit:
    """Something that does not fit."""

    what: What
    sentence: str


@dataclass(frozen=True)
class TakenValues:
    """What an input takes."""

    shape: Shape | None
    """With the rows' dimension."""
    dtype: str
    kind: Kind
    mode: Mode
    range: tuple[float, float] | None
    """None where the file says nothing."""
    why_range: str
    """Where the file says so, a sentence."""
    channels: int | None
    """Of an image."""


@dataclass(frozen=True)
class Columns:
    """Mean and standard deviation of each column."""

    mean: tuple[float, ...]
    std: tuple[float, ...]


@dataclass(frozen=True)
class GivenValues:
    """What the data holds for an input; statistics are None where no value is finite, and of text."""

    name: str
    shape: tuple[int, ...] | Literal["several"]
    """With the rows' dimension; "several" for rows of several shapes."""
    examples: tuple[tuple[int, ...], ...]
    """Some shapes of a row,"""
    shapes: int
    """of so many."""
    dtype: str
    min: float | None
    max: float | None
    mean: float | None
    std: float | None
    nan: int
    channels: int | None
    histogram: Histogram
    columns: Columns | None
    """None where there are none, or too many."""
    rows_read: int


@dataclass(frozen=True)
class InputFit:
    """One input of the model beside the data."""

    name: str
    expects: TakenValues
    has: GivenValues | None
    """None where the data has no array for it."""
    ok: bool
    problems: tuple[Misfit, ...]
    """The hardest first."""
    suggested: tuple[Steps, ...] = ()
    """Ways to make it fit, the best first: steps to add."""
    superfluous: tuple[int, ...] = ()
    """Places of steps without which fewer things are wrong."""
    of: str = ""
    """What a step calls its array."""


@dataclass(frozen=True)
class TakenLabels:
    """How the loss reads labels of an output."""

    shape: Shape | None
    code: LabelCode
    """"" where neither loss nor last activation tells."""
    encoding: str
    """The same in words."""
    classes: int | None
    range: tuple[float, float] | None
    loss: str
    why: str


@dataclass(frozen=True)
class GivenLabels:
    """What the data holds as labels of an output."""

    name: str
    shape: tuple[int, ...]
    """With the rows' dimension."""
    dtype: str
    kind: str
    """"" where it is not known."""
    classes: int | None
    class_names: tuple[str, ...]
    """Hostile text."""
    min: float | None
    max: float | None
    mean: float | None


@dataclass(frozen=True)
class OutputFit:
    """One output of the model beside the labels."""

    name: str
    expects: TakenLabels
    has: GivenLabels | None = None
    """None, as is `ok`, where the data holds no labels for it."""
    ok: bool | None = None
    problems: tuple[Misfit, ...] = ()
    suggested: tuple[Steps, ...] = ()
    of: str = ""


@dataclass(frozen=True)
class Broken:
    """A step that does not apply to these rows."""

    place: int
    sentence: str


@dataclass(frozen=True, kw_only=True)
class RowShown:
    """An array, and its first row as a file."""

    shape: tuple[int, ...] | Literal["several"]
    """Without the rows' dimension."""
    dtype: str
    min: float | None
    max: float | None
    histogram: Histogram
    row_shape: tuple[int, ...] | None
    """None, as is `file`, where there is no row."""
    file: str | None


@dataclass(frozen=True, kw_only=True)
class Fed(RowShown):
    """What an input is fed, and what it was before the steps."""

    name: str
    array: str
    before: RowShown


@dataclass(frozen=True)
class DataFit:
    """The whole comparison."""

    about: DataAbout
    rows_read: int
    inputs: tuple[InputFit, ...]
    outputs: tuple[OutputFit, ...]
    broken: Broken | None
    applied: int
    """Steps before it."""
    steps: tuple[str, ...]
    """In words."""
    code: str
    """The same in Python."""
    as_fed: tuple[Fed, ...]
    others: tuple[str, ...]
    """Arrays that the model does not take."""

    @property
    def sides(self) -> tuple[InputFit | OutputFit, ...]:
        """Inputs, then outputs."""
        return self.inputs + self.outputs

    @property
    def problems(self) -> tuple[Misfit, ...]:
        """Everything that does not fit."""
        return tuple(problem for side in self.sides for problem in side.problems)
