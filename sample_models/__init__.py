"""Models to try: one specimen per behaviour, and the recipes that build them."""

from __future__ import annotations

from pathlib import Path

BUILT = Path(__file__).parent / "built"
"""The samples, and manifest.json about them."""
