"""Examples of the fixes of `script_patch`."""

from __future__ import annotations

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.script_patch import Edit, ScriptPatch
from stethoscope.program.setup import Setup
from tests.checks.fixes.setups import setup

EXAMPLES: list[tuple[Fix, Setup]] = [
    (ScriptPatch("Write x = 2.", "--- a\n+++ b\n@@ -1 +1 @@\n-x = 1\n+x = 2\n", (Edit(0, 4, 5, "2"),)), setup())
]
