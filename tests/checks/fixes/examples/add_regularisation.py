"""Examples of the fixes of `add_regularisation`."""

from __future__ import annotations

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_settings import AddRegularisation
from stethoscope.program.setup import Setup
from tests.checks.fixes.setups import setup

EXAMPLES: list[tuple[Fix, Setup]] = [
    (AddRegularisation(method="dropout", rate=0.3), setup()),
    (AddRegularisation(method="l2", rate=0.01), setup()),
]
