"""Examples of the fixes of `advice`."""

from __future__ import annotations

from stethoscope.checks.fixes.fix import Advice, Fix
from stethoscope.program.setup import Setup
from tests.checks.fixes.setups import setup

EXAMPLES: list[tuple[Fix, Setup]] = [(Advice("Give the model\nmore data.", "x = load()"), setup())]
