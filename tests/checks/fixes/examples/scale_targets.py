"""Examples of the fixes of `scale_targets`."""

from __future__ import annotations

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.values import ScaleTargets
from stethoscope.program.setup import Setup
from tests.checks.fixes.setups import setup

EXAMPLES: list[tuple[Fix, Setup]] = [(ScaleTargets("out", method="minmax"), setup()), (ScaleTargets(), setup())]
