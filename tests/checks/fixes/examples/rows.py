"""Examples of the fixes of `rows`."""

from __future__ import annotations

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.rows import DropFeatures, DropRows, ShuffleBeforeSplit
from stethoscope.program.setup import Setup
from tests.checks.fixes.setups import gaps, setup

EXAMPLES: list[tuple[Fix, Setup]] = [
    (ShuffleBeforeSplit(0.25), setup()),
    (DropRows(), gaps()),
    (DropFeatures((1, 3)), setup()),
]
