"""Examples of the fixes of `combined`."""

from __future__ import annotations

from stethoscope.checks.fixes.advice import Advice
from stethoscope.checks.fixes.combined import Combined
from stethoscope.checks.fixes.fit_settings import SetEpochs
from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.output_layers import ReplaceActivation
from stethoscope.program.setup import Setup
from tests.checks.fixes.setups import setup

EXAMPLES: list[tuple[Fix, Setup]] = [
    (Combined((Combined((SetEpochs(9),)), ReplaceActivation("out", "sigmoid"), Advice("Look at it."))), setup())
]
