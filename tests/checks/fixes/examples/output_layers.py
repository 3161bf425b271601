"""Examples of the fixes of `output_layers`."""

from __future__ import annotations

import numpy as np

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layers import ReplaceActivation, ReplaceHead, SetOutputBias
from stethoscope.program.setup import Setup
from tests.checks.fixes.setups import setup

EXAMPLES: list[tuple[Fix, Setup]] = [
    (ReplaceActivation("out", "sigmoid", was="softmax", layer_type="Dense", units=3), setup()),
    (ReplaceActivation("hidden", "elu", layer_type="Conv2D"), setup()),
    (ReplaceHead("out", 1, "sigmoid", "binary_crossentropy", was="softmax"), setup(y=(np.arange(8) % 2,), y_val=())),
    (SetOutputBias("out", (0.5, -0.25, 1.0)), setup()),
]
