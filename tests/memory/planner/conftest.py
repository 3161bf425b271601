"""Plans to test."""

from __future__ import annotations

import pytest


@pytest.fixture
def sure(monkeypatch):
    """Plans that are taken to be exact: on devices as small as these nothing else would fit."""
    for name in ("STEP_BYTES", "STATES", "COMPUTING", "OVER"):
        monkeypatch.setattr(f"stethoscope.memory.planner.margin.{name}", 0)
