"""What a comparison of data of then with data of today answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from stethoscope.drift.pairing import FeatureRole, Kind
from stethoscope.drift.reading import LogColumns
from stethoscope.drift.scores import ScoreChange
from stethoscope.drift.settings import DriftSettings, Effect

SideName = Literal["reference", "current"]
NO_TEST = "none"
SCHEMA = "type"
"""The test of a column that changed its type: no chance is involved."""


@dataclass(frozen=True)
class NumberSide:
    """The numbers of one side; None for what numbers near the largest ones add up to."""

    mean: float | None
    std: float | None
    min: float | None
    max: float | None
    q25: float | None
    median: float | None
    q75: float | None


@dataclass(frozen=True)
class CategorySide:
    """The categories of one side."""

    distinct: int
    top: str
    """The most frequent one."""


@dataclass(frozen=True)
class NumberHistogram:
    """Rows of both sides over the same bins."""

    edges: tuple[float, ...]
    """(bins + 1,)"""
    reference: tuple[int, ...]
    """(bins,)"""
    current: tuple[int, ...]


@dataclass(frozen=True)
class CategoryHistogram:
    """Rows of both sides in the most frequent categories."""

    categories: tuple[str, ...]
    reference: tuple[int, ...]
    """(categories,)"""
    current: tuple[int, ...]
    others: tuple[int, int]
    """Rows of the reference, and of the current data, in categories that are not among them."""


@dataclass(frozen=True)
class Distance:
    """A test's statistic and how often chance gives it, not corrected."""

    statistic: float
    p_value: float


@dataclass(frozen=True)
class SmallestShift:
    """The smallest drift that would be found four times out of five."""

    value: float
    unit: Literal["standard deviations", "percentage points"]
    standardised: float
    """In standard deviations."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """How large a feature's drift is, and how both sides look."""

    psi: float | None = None
    psi_by_chance: float | None = None
    psi_above_chance: float = 0.0
    wasserstein: float | None = None
    """In standard deviations of the reference."""
    jensen_shannon: float | None = None
    ks: Distance | None = None
    reference: NumberSide | CategorySide | None = None
    current: NumberSide | CategorySide | None = None
    histogram: NumberHistogram | CategoryHistogram | None = None
    note: str = ""
    n_reference: int | None = None
    """Rows with a value."""
    n_current: int | None = None
    new: tuple[str, ...] = ()
    """Categories that only the current data has,"""
    gone: tuple[str, ...] = ()
    """and that only the reference has."""


@dataclass(frozen=True, kw_only=True)
class FeatureDrift(Measured):
    """One feature with its verdict, corrected for how many there are."""

    name: str
    field: str
    """What it was made of."""
    role: FeatureRole
    kind: Kind | Literal["type"]
    test: str
    statistic: float
    p_value: float
    p_adjusted: float
    q_value: float
    significant: bool
    drifted: bool
    """Significant, and of the size that was asked for."""
    effect: Effect
    smallest_detectable: SmallestShift | None = None


@dataclass(frozen=True)
class NotCompared:
    """Rows that were not compared as wholes, and why."""

    of: str
    test: Literal["none"]
    note: str


@dataclass(frozen=True)
class FieldUsed:
    """What a classifier goes by."""

    name: str
    auc_lost: float
    """Of the area under the curve, without the field."""


@dataclass(frozen=True, kw_only=True)
class _WholeRows:
    of: str
    """What the rows are of: "data", or a layer."""
    statistic: float
    p_value: float
    auc: float
    p_adjusted: float = 1.0
    significant: bool = False
    drifted: bool = False
    effect: Effect = "negligible"


@dataclass(frozen=True, kw_only=True)
class ToldApart(_WholeRows):
    """How well a classifier tells the sides apart; `low` and `high` are the 95 % interval of its area under the curve."""

    test: Literal["domain_classifier"] = "domain_classifier"
    low: float
    high: float
    n_train: int
    n_test: int
    fields: tuple[FieldUsed, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Discrepancy(_WholeRows):
    """The maximum mean discrepancy of both sides."""

    test: Literal["mmd"] = "mmd"
    bandwidth: float
    n_reference: int
    n_current: int


WholeRows = ToldApart | Discrepancy


@dataclass(frozen=True)
class GroupDrift:
    """A group of rows, and the feature that drifts most within it."""

    field: str
    value: str
    n_reference: int
    n_current: int
    p_value: float
    drifted: bool
    worst: str
    psi_above_chance: float


@dataclass(frozen=True)
class Subgroups:
    """The groups that drift, the largest drift first; then the most likely others."""

    groups: tuple[GroupDrift, ...]
    tested: int
    complete: bool
    """False where there was no time for all."""


@dataclass(frozen=True)
class Stretch:
    """A stretch of time of one side."""

    side: SideName
    start: str
    """A moment as ISO 8601, or a number."""
    end: str
    n: int
    n_labelled: int = 0
    value: float | None = None
    """Accuracy or absolute error; `low` and `high` are its 95 % interval. All None where nothing is labelled."""
    low: float | None = None
    high: float | None = None
    lower_limit: float | None = None
    """Control limits."""
    upper_limit: float | None = None
    out_of_control: bool = False
    prediction_p_value: float | None = None
    """Corrected. None for the reference's own stretches."""
    prediction_drifted: bool = False
    mean_confidence: float | None = None
    largest_psi: float | None = None
    largest_psi_of: str = ""


@dataclass(frozen=True)
class OverTime:
    """The stretches of both sides in the order of time."""

    time: str
    """The column of moments."""
    measure: Literal["accuracy", "absolute error"] | None
    centre: float | None
    """The measure in the reference."""
    stretches: tuple[Stretch, ...]


@dataclass(frozen=True)
class Fired:
    """A test that says drift."""

    what: Literal["feature", "domain_classifier", "mmd"]
    name: str
    p_adjusted: float


@dataclass(frozen=True)
class SchemaChanges:
    """What only one side has, and (field, what it held, what it holds)."""

    only_reference: tuple[str, ...] = ()
    only_current: tuple[str, ...] = ()
    changed_types: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True)
class SideRows:
    """How much was read of one side. `name` is hostile text."""

    name: str
    rows: int
    read: int
    sampled: bool
    damaged: int


@dataclass(frozen=True)
class RowsOfBoth:
    """How much was read of each side."""

    reference: SideRows
    current: SideRows


@dataclass(frozen=True)
class DriftReport:
    """The whole comparison, with one verdict at the level that was asked for."""

    verdict: Literal["drift", "no_drift"]
    sentence: str
    fired: tuple[Fired, ...]
    features: tuple[FeatureDrift, ...]
    """The most drifted first."""
    smallest_detectable: float | None
    """In standard deviations: the median over the features."""
    alpha: float
    whole: tuple[NotCompared | ToldApart | Discrepancy, ...]
    subgroups: Subgroups | None
    over_time: OverTime | None
    predictions: tuple[str, ...]
    """Names of features that a model made,"""
    labels: tuple[str, ...]
    """and of labels."""
    layer: str | None
    """Of the model whose output was compared."""
    log: LogColumns
    schema: SchemaChanges
    rows: RowsOfBoth
    notes: tuple[str, ...]
    settings: DriftSettings
    score: ScoreChange | None = None
    """How right predictions are on both sides; None without labels that anything could be told by."""
    smallest_detectable_unit: Literal["standard deviations"] = "standard deviations"

    @property
    def drifted(self) -> bool:
        """Whether the verdict is drift."""
        return self.verdict == "drift"

    @property
    def ran(self) -> tuple[WholeRows, ...]:
        """The tests of whole rows that were made."""
        return tuple(test for test in self.whole if not isinstance(test, NotCompared))
