"""What a diagnosis says: findings, what they rest on, what each check came to. Standard library only."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from typing import Literal

from stethoscope.checks.fixes.fix import Fix
from stethoscope.codec import WritesItself
from stethoscope.types import Status


class Severity(WritesItself, enum.IntEnum):
    """How much a finding matters; ordered.

    CRITICAL: training or prediction cannot work. HIGH: the result is wrong or much worse than it could be.
    MEDIUM: a real defect that costs something. LOW: worth knowing. INFO: a remark.
    """

    INFO = 0
    LOW = 1
    MEDIUM = 2
    HIGH = 3
    CRITICAL = 4

    @property
    def label(self) -> str:
        """The lower-case name used in JSON and on the command line."""
        return self.name.lower()

    def to_json(self) -> str:
        """Its label."""
        return self.label

    @classmethod
    def named(cls, label: str) -> Severity:
        """The inverse of `label`.

        Raises:
            KeyError: no such severity.
        """
        return cls[label.upper()]

    @classmethod
    def _missing_(cls, value: object) -> Severity | None:
        return cls.__members__.get(str(value).upper())

    def lowered(self, steps: int = 1) -> Severity:
        """The severity `steps` below, INFO at the least."""
        return Severity(max(0, self - steps))


class Fault(enum.StrEnum):
    """What kind of thing is wrong: the part of the program to change."""

    ACTIVATION = "activation"
    LOSS = "loss"
    OPTIMIZER = "optimizer"
    LEARNING_RATE = "learning_rate"
    EPOCHS = "epochs"
    BATCH_SIZE = "batch_size"
    PREPROCESSING = "preprocessing"
    LABELS = "labels"
    ARCHITECTURE = "architecture"
    INITIALISATION = "initialisation"
    REGULARISATION = "regularisation"
    METRIC = "metric"
    VALIDATION = "validation"
    NUMERICAL = "numerical"
    DATA = "data"
    DETERMINISM = "determinism"
    DEPLOYMENT = "deployment"
    MEMORY = "memory"
    SPEED = "speed"
    SAFETY = "safety"


@dataclass(frozen=True)
class Number:
    """One measured value beside the threshold it was held against."""

    label: str
    value: float
    unit: str = ""
    threshold: float | None = None
    kind: Literal["number"] = "number"


@dataclass(frozen=True)
class Table:
    """Rows of text and numbers."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | float | int | None, ...], ...]
    kind: Literal["table"] = "table"


@dataclass(frozen=True)
class Line:
    """One curve. NaN and infinities are points like others. `group` names curves that belong together (seeds)."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    group: str = ""


@dataclass(frozen=True)
class Mark:
    """A place to point at: on the x axis of curves and histograms, or on the value axis of bars."""

    at: float
    label: str


@dataclass(frozen=True)
class Curves:
    """Lines over a common x axis."""

    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    marks: tuple[Mark, ...] = ()
    log_y: bool = False
    kind: Literal["curves"] = "curves"


@dataclass(frozen=True)
class Span:
    """Where in a log something shows: steps of one tag of one run, to be marked in its plot."""

    run: str
    tag: str
    at: float
    """The first step, in the log's own numbers."""
    until: float
    """The last step; equal to `at` for a single one."""
    label: str


@dataclass(frozen=True)
class Bars:
    """One bar per name: layers, features, classes. A mark is a threshold on the value axis."""

    title: str
    value_label: str
    names: tuple[str, ...]
    values: tuple[float, ...]
    marks: tuple[Mark, ...] = ()
    log: bool = False
    kind: Literal["bars"] = "bars"


@dataclass(frozen=True)
class Histogram:
    """Counts between `edges` (one more than counts)."""

    title: str
    x_label: str
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    marks: tuple[Mark, ...] = ()
    kind: Literal["histogram"] = "histogram"


@dataclass(frozen=True)
class Symptom:
    """What another check saw and this finding explains."""

    check_id: str
    message: str
    kind: Literal["symptom"] = "symptom"


@dataclass(frozen=True)
class Excerpt:
    """Lines of a user's script. Hostile text: shown as code, never as markup."""

    title: str
    """Where it stands: "train.py:12"."""
    text: str
    first_line: int
    language: Literal["python", "diff"] = "python"
    kind: Literal["excerpt"] = "excerpt"


EvidenceItem = Number | Table | Curves | Bars | Histogram | Symptom | Excerpt


Verdict = Literal["helps", "no_difference", "worse", "skipped"]


@dataclass(frozen=True)
class Proof:
    """Base and fixed copies trained side by side on the same data and seeds.

    `before` and `after` hold the final score of each seed; `effect` is the mean of the paired differences, oriented so
    that positive is better, `spread` their standard deviation.
    """

    verdict: Verdict
    message: str
    """For example "accuracy 0.51 → 0.97, better in 3 of 3 seeds", or why it was skipped."""
    metric: str = ""
    before: tuple[float, ...] = ()
    after: tuple[float, ...] = ()
    effect: float | None = None
    spread: float | None = None
    seeds: tuple[int, ...] = ()
    curves: Curves | None = None
    wall_s: float = 0.0


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong: its cause, where, what it rests on, what fixes it."""

    fault: Fault
    severity: Severity
    confidence: float
    """0 … 1: how sure the check is that this is a defect, from the evidence it had."""
    where: str
    """A layer's path, or "input:<name>", "target:<name>", "loss", "optimizer", "metrics", "fit", "data"."""
    message: str
    """The cause in one or two sentences, with the user's own names and numbers."""
    check_id: str = ""
    """Filled from the check, by whoever runs it."""
    evidence: tuple[EvidenceItem, ...] = ()
    fix: Fix | None = None
    proof: Proof | None = None
    source: str = ""
    """Where the rule and its threshold come from; filled from the check's page when empty."""
    title: str = ""
    """Filled from the check when empty."""
    run: str = ""
    """The run of a log it was found in; empty where a model is judged, and where several runs are compared."""
    marks: tuple[Span, ...] = ()
    """The steps of a log that show it."""

    @property
    def rounded(self) -> Finding:
        """As it is written: three digits of its confidence."""
        return replace(self, confidence=round(self.confidence, 3))


@dataclass(frozen=True)
class Outcome:
    """What one check came to. FAILED may still carry findings made before it broke."""

    check_id: str
    status: Status
    findings: tuple[Finding, ...] = ()
    reason: str = ""
