"""Examples of the fixes of `layer_order`."""

from __future__ import annotations

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layers import AddFlatten, AddHiddenLayer, AddNormalisation, MoveDropout, RemoveLayer
from stethoscope.program.setup import Setup
from tests.checks.fixes.setups import setup

EXAMPLES: list[tuple[Fix, Setup]] = [
    (RemoveLayer("drop", why="it drops all"), setup()),
    (AddFlatten("out"), setup()),
    (MoveDropout("drop", before="hidden", rate=0.5), setup()),
    (AddNormalisation(), setup()),
    (AddNormalisation("hidden", method="layer"), setup()),
    (AddHiddenLayer("out", 16, "relu"), setup()),
]
