"""A button that copies the address of the view, exactly as the browser has it."""

from __future__ import annotations

from pathlib import Path

from dashboard.components import component

FOLDER = Path(__file__).parent


def show(key: str = "copy-link") -> None:
    """Draws the button. It works in the browser alone: nothing runs on the server."""
    component(FOLDER)(key=key, data={})
