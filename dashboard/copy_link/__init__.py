"""A button that copies the address of the view, exactly as the browser has it."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import streamlit as st

FOLDER = Path(__file__).parent


def show(key: str = "copy-link") -> None:
    """Draws the button. It works in the browser alone: nothing runs on the server."""
    _component()(key=key, data={})


@functools.cache
def _component() -> Any:
    return st.components.v2.component(
        "stethoscope_copy_link",
        html='<button type="button">Copy link</button><span class="said" role="status"></span>',
        css=(FOLDER / "component.css").read_text("utf-8"),
        js=(FOLDER / "component.js").read_text("utf-8"),
    )
