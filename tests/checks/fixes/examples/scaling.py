"""Examples of the fixes of `scaling`."""

from __future__ import annotations

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.values import ScaleInputs
from stethoscope.program.setup import Setup
from tests.checks.fixes.setups import setup

EXAMPLES: list[tuple[Fix, Setup]] = [
    (ScaleInputs("rows", was_minimum=-3.0, was_maximum=255.0), setup()),
    (ScaleInputs(method="minmax"), setup()),
    (ScaleInputs(method="divide", divisor=255.0), setup()),
]
