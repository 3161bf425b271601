"""What a study of consistency answers, and what of it is evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from stethoscope.evidence.model import BehaviourEvidence, BehaviourTest

Group = Literal["determinism", "batch", "mode", "save-reload", "robustness"]


@dataclass(frozen=True)
class ConsistencyTest:
    """How one test ended."""

    id: str
    group: Group
    name: str
    passed: bool | None
    """None where it does not apply to this model."""
    noted: bool
    """With `passed` None: it showed something worth knowing that is no defect in itself."""
    decides: bool
    """Whether failing it makes the model inconsistent."""
    detail: str
    """What was seen, a sentence."""
    max_abs_diff: float | None = None
    layer: str | None = None
    """The first layer that shows it,"""
    reason: str = ""
    """and why it does."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """What was measured, as the test's own JSON."""


@dataclass(frozen=True)
class FirstDifference:
    """The first layer, in execution order, at which two runs differ."""

    layer: str
    max_abs_diff: float | None
    reason: str
    values: tuple[Any, ...] = ()
    """What it gave in one run and in the other,"""
    index: tuple[int, ...] = ()
    """at this element of its output."""


@dataclass(frozen=True)
class ConsistencySettings:
    """How the study was made."""

    runs: int
    seed: int
    batch_size: int
    atol: float
    half_precision: bool
    dynamic_size: int | None
    """Of open dimensions of the input; None where there are none."""
    input: str
    """"dummy" or the data file's name."""


@dataclass(frozen=True)
class InputArray:
    """One input as it was given."""

    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True)
class TwoRuns:
    """The first values of one output, in the first run and in the one that differs most."""

    first: tuple[float, ...]
    other: tuple[float, ...]


@dataclass(frozen=True)
class ConsistencyReport:
    """All tests; of a study that did not come to its end, those that were made by then."""

    consistent: bool
    runs: int
    first_difference: FirstDifference | None
    tests: tuple[ConsistencyTest, ...]
    settings: ConsistencySettings
    input: Mapping[str, InputArray]
    samples: Mapping[str, TwoRuns]
    """By output."""

    def test(self, test_id: str) -> ConsistencyTest | None:
        """The test with this id, if it was made."""
        return next((test for test in self.tests if test.id == test_id), None)


def behaviour_from(report: ConsistencyReport) -> BehaviourEvidence:
    """All tests as evidence."""
    tests = tuple(
        BehaviourTest(
            id=test.id,
            name=test.name,
            passed=test.passed,
            detail=test.detail,
            max_abs_diff=test.max_abs_diff,
            layer=test.layer or "",
            reason=test.reason,
            values=test.values,
            noted=test.noted,
        )
        for test in report.tests
    )
    return BehaviourEvidence(report.consistent, tests, "random input" if report.settings.input == "dummy" else "data")
