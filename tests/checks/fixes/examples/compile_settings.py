"""Examples of the fixes of `compile_settings`."""

from __future__ import annotations

from stethoscope.checks.fixes.compile_and_fit import (
    ClipGradients,
    ReplaceLoss,
    ReplaceOptimizer,
    SetLearningRate,
    SetMetrics,
)
from stethoscope.checks.fixes.fix import Fix
from stethoscope.program.setup import Setup
from tests.checks.fixes.setups import setup

EXAMPLES: list[tuple[Fix, Setup]] = [
    (ReplaceLoss("categorical_crossentropy", from_logits=True, was="mse"), setup()),
    (ReplaceOptimizer("adam", 0.001, was="SGD"), setup()),
    (SetLearningRate(0.001, was=0.5), setup()),
    (SetLearningRate(1e-5, was=0.5, optimizer="sgd"), setup()),
    (SetMetrics(("accuracy",), was=("mae",)), setup()),
    (ClipGradients(), setup()),
    (ClipGradients(0.5, optimizer="SGD", learning_rate=0.1), setup()),
]
