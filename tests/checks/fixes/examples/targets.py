"""Examples of the fixes of `targets`."""

from __future__ import annotations

import numpy as np

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.values import ClassWeights, EncodeLabels, ReshapeTargets
from stethoscope.program.setup import Setup
from tests.checks.fixes.setups import setup

EXAMPLES: list[tuple[Fix, Setup]] = [
    (EncodeLabels(encoding="one-hot", classes=3, loss="categorical_crossentropy"), setup()),
    (EncodeLabels(encoding="integer"), setup(y=(np.eye(3)[np.arange(8) % 3],), y_val=(np.eye(3)[[0, 1, 2, 0]],))),
    (EncodeLabels(encoding="zero-one"), setup(y=(np.arange(8) % 2 * 2 - 1,), y_val=(np.array([1, -1, 1, -1]),))),
    (EncodeLabels(encoding="zero-based"), setup(y=(np.arange(8) % 3 + 1,), y_val=(np.array([1, 2, 3, 1]),))),
    (EncodeLabels(encoding="unscale", factor=255.0), setup(y=(np.arange(8) % 3 / 255,), y_val=(np.arange(4) / 255,))),
    (ReshapeTargets("out", (1,)), setup()),
    (ReshapeTargets(), setup(y=(np.zeros((8, 1)),), y_val=(np.zeros((4, 1)),))),
    (ClassWeights((1.0, 2.0, 0.5)), setup()),
]
