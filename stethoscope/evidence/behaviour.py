"""How the model behaves when it is run again, alone, shuffled, saved and loaded: the tests of the Consistency page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class BehaviourTest:
    """One test. `passed` is None when it does not apply."""

    id: str
    name: str
    passed: bool | None
    detail: str
    max_abs_diff: float | None = None
    layer: str = ""
    reason: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    """What was measured, as the test's own JSON: "batch_normalisation", "read_as", "crashed" …"""
    noted: bool = False
    """With `passed` None: it showed something worth knowing that is no defect in itself."""


@dataclass(frozen=True)
class BehaviourEvidence:
    """All tests that were run."""

    consistent: bool
    tests: tuple[BehaviourTest, ...]
    source: str = ""
    """"data" or "random input"."""

    def test(self, test_id: str) -> BehaviourTest | None:
        """The test with this id, if it was run."""
        return next((test for test in self.tests if test.id == test_id), None)
