"""Examples of the fixes of `remove_duplicates`."""

from __future__ import annotations

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.rows import RemoveDuplicates
from stethoscope.program.setup import Setup
from tests.checks.fixes.setups import gaps

EXAMPLES: list[tuple[Fix, Setup]] = [(RemoveDuplicates(), gaps())]
