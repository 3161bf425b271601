"""Examples of the fixes of `combined`."""

from __future__ import annotations

from stethoscope.checks.fixes.combined import Combined
from stethoscope.checks.fixes.compile_and_fit import SetEpochs
from stethoscope.checks.fixes.fix import Advice, Fix
from stethoscope.checks.fixes.layers import ReplaceActivation
from stethoscope.program.setup import Setup
from tests.checks.fixes.setups import dense, setup

NAMES = ("one", "two", "three")

EXAMPLES: list[tuple[Fix, Setup]] = [
    (Combined((Combined((SetEpochs(9),)), ReplaceActivation("out", "sigmoid"), Advice("Look at it."))), setup()),
    (
        Combined(tuple(ReplaceActivation(name, "relu", "sigmoid", "Dense") for name in NAMES)),
        setup(*(dense(name, 4, "sigmoid") for name in NAMES), dense("out", 3, "softmax"), weights=None),
    ),
]
