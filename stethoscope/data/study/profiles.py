"""The data's profile: ranges, scale, label encoding, order, imbalance, duplicates, constants, NaN."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from stethoscope.types import Shape

TargetKind = Literal[
    "binary",  # two values, one column
    "classes",  # integers 0 … K−1 (or any few integers), one column
    "one-hot",  # 0/1 rows with a single 1
    "multi-hot",  # 0/1 rows with any number of ones
    "distribution",  # non-negative rows that sum to 1
    "continuous",  # real numbers
    "text",
    "empty",
]


@dataclass(frozen=True)
class Features:
    """Statistics of each column (last axis) over all rows and positions; same length everywhere."""

    minimum: tuple[float, ...]
    maximum: tuple[float, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...]
    distinct: tuple[int, ...] = ()
    """Number of different values, counted on at most 20,000 rows."""


@dataclass(frozen=True)
class ArrayProfile:
    """One array. Statistics are over finite values; None where there is none, or for text."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    minimum: float | None = None
    maximum: float | None = None
    mean: float | None = None
    std: float | None = None
    values: int = 0
    nan: int = 0
    infinite: int = 0
    zero_fraction: float = 0.0
    integral: bool = False
    """Every finite value is a whole number."""
    distinct_values: tuple[float, ...] = ()
    """All different values when there are at most 64, sorted."""
    features: Features | None = None
    """Present for 2 to 2,000 columns of an array of rank 2 or more, and for images by channel."""
    constant_features: tuple[int, ...] = ()
    histogram_edges: tuple[float, ...] = ()
    histogram_counts: tuple[int, ...] = ()
    duplicate_rows: int = 0
    """Rows equal to an earlier row."""
    nan_rows: int = 0

    @property
    def rows(self) -> int:
        """The size of the first axis; 0 for a scalar."""
        return self.shape[0] if self.shape else 0


@dataclass(frozen=True)
class TargetProfile:
    """What the labels of one output are."""

    array: ArrayProfile
    kind: TargetKind
    class_values: tuple[float, ...] = ()
    """The distinct labels, or the column numbers of one-hot and multi-hot rows."""
    class_counts: tuple[int, ...] = ()
    first_row: tuple[int, ...] = ()
    last_row: tuple[int, ...] = ()
    """For each class, the first and last row that holds it (−1 for none): whether a split by position separates classes."""
    order_correlation: float | None = None
    """Spearman correlation between row number and a continuous target or class index."""
    neighbour_equality: float | None = None
    """Share of neighbouring rows with the same label; `expected_equality` is what random order would give."""
    expected_equality: float | None = None
    row_sum_minimum: float | None = None
    row_sum_maximum: float | None = None
    conflicting_duplicates: int = 0
    """Rows whose input equals an earlier row's and whose label does not."""
    best_single_feature: tuple[int, float] | None = None
    """(input column, |correlation| or accuracy of one threshold) that alone predicts the target best: leakage when ~1."""
    perfect_features: int = 0
    """How many input columns alone predict the target perfectly: one among many is suspicious, all are a toy."""

    @property
    def class_count(self) -> int:
        """Number of classes; 0 for continuous targets."""
        return len(self.class_values)


@dataclass(frozen=True)
class Unprepared:
    """Rows as they are, texts or of many shapes, beside an input that takes numbers of one shape."""

    input: str
    kind: Literal["text", "picture", "rows"]
    array: str
    """What it would be fed from."""
    shape: Shape
    """Of a row, as the input takes it."""
    dtype: str
    looked_up: bool = False
    """Whether the input goes into an embedding,"""
    vocabulary: int | None = None
    """of so many entries; None where it is not known."""
    usual_words: int | None = None
    """The median of a text,"""
    most_words: int | None = None
    """and the most; None where there is no text."""
    sizes: tuple[tuple[int, ...], ...] = ()
    """The commonest shapes of a row,"""
    different_sizes: int = 0
    """of so many."""
    low: float | None = None
    high: float | None = None
    steps: tuple[str, ...] = ()
    """What makes them fit, tried on some rows: in words,"""
    code: str = ""
    """and in Python."""


@dataclass(frozen=True)
class DataEvidence:
    """The user's data as it was given.

    `inputs` and `targets` are keyed by the model's input and output names; what fits neither is in `others`
    (x_test, x_val …). `binding_problem` says why inputs could not be matched.
    """

    source: str
    inputs: dict[str, ArrayProfile] = field(default_factory=dict)
    targets: dict[str, TargetProfile] = field(default_factory=dict)
    others: dict[str, ArrayProfile] = field(default_factory=dict)
    binding_problem: str = ""
    rows: int = 0
    raw: tuple[Unprepared, ...] = ()
