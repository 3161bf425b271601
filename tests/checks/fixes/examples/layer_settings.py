"""Examples of the fixes of `layer_settings`."""

from __future__ import annotations

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_settings import (
    RemoveBias,
    SetDropoutRate,
    SetInitialiser,
    SetInputShape,
    SetPadding,
    SetVocabulary,
    Unfreeze,
)
from stethoscope.program.setup import Setup
from tests.checks.fixes.setups import IMAGES, setup

EXAMPLES: list[tuple[Fix, Setup]] = [
    (SetInitialiser(("hidden",), kernel="he_normal"), setup()),
    (Unfreeze(("out",)), setup(*IMAGES)),
    (SetInputShape("rows", (5,), was=(4,)), setup()),
    (SetPadding(("conv",)), setup(*IMAGES)),
    (SetDropoutRate(("drop",), 0.2, was=0.5), setup()),
    (RemoveBias(("hidden",)), setup()),
    (SetVocabulary("tokens", 50, was=10), setup(*IMAGES)),
    (SetVocabulary("tokens", 50, output_dim=4), setup(*IMAGES)),
]
