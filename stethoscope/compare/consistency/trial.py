"""What one test says, and where a difference begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stethoscope.compare.consistency.report import ConsistencyTest, FirstDifference, Group
from stethoscope.data.feeds.differences import Difference


@dataclass(frozen=True)
class Origin:
    """The first layer, in execution order, that shows something, and why it does."""

    layer: str
    reason: str
    gap: Difference | None = None
    """The difference in the layer's output, where two runs were compared."""

    def difference(self) -> FirstDifference:
        """As the answer has it."""
        if self.gap is None:
            return FirstDifference(self.layer, None, self.reason)
        return FirstDifference(
            self.layer, self.gap.max_abs_diff, self.reason, tuple(self.gap.values), tuple(self.gap.index)
        )


@dataclass(frozen=True)
class Trial:
    """One thing that was tried.

    `passed` is None when it does not apply to this model, or, with `noted`, when it showed something that is worth
    knowing and no defect. `decides` says that failing it makes the model inconsistent. `values` are measured numbers.
    """

    id: str
    group: Group
    name: str
    passed: bool | None
    detail: str
    max_abs_diff: float | None = None
    origin: Origin | None = None
    noted: bool = False
    decides: bool = False
    values: Mapping[str, Any] = field(default_factory=dict)

    def test(self) -> ConsistencyTest:
        """As the answer has it."""
        return ConsistencyTest(
            id=self.id,
            group=self.group,
            name=self.name,
            passed=self.passed,
            noted=self.noted,
            decides=self.decides,
            detail=self.detail,
            max_abs_diff=self.max_abs_diff,
            layer=None if self.origin is None else self.origin.layer,
            reason="" if self.origin is None else self.origin.reason,
            values=self.values,
        )


def number(value: Any) -> str:
    """A number in a sentence; anything else as it is."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def listed(paths: list[str], shown: int = 3) -> str:
    """Some layer paths in a sentence."""
    return ", ".join(paths[:shown]) + (f" and {len(paths) - shown} more" if len(paths) > shown else "")
