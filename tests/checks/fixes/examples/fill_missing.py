"""Examples of the fixes of `fill_missing`."""

from __future__ import annotations

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.rows import FillMissing
from stethoscope.program.setup import Setup
from tests.checks.fixes.setups import gaps

EXAMPLES: list[tuple[Fix, Setup]] = [(FillMissing(), gaps())]
