"""Examples of the fixes of `fit_settings`."""

from __future__ import annotations

from stethoscope.checks.fixes.compile_and_fit import EarlyStopping, SetBatchSize, SetEpochs, SetShuffle
from stethoscope.checks.fixes.fix import Fix
from stethoscope.program.setup import Setup
from tests.checks.fixes.setups import setup

EXAMPLES: list[tuple[Fix, Setup]] = [
    (SetEpochs(50, was=3), setup()),
    (SetBatchSize(32, was=4), setup()),
    (SetShuffle(), setup(shuffle=False)),
    (EarlyStopping(5, epochs=2), setup()),
]
