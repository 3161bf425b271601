"""Our own components in the browser: each a folder of HTML, CSS and JavaScript, drawn by Streamlit."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

_HERE = Path(__file__).parent
SCRIPT, STYLE = "component.js", "component.css"


def component(folder: Path, scripts: Sequence[str] = (SCRIPT,), styles: Sequence[str] = (STYLE,)) -> Any:
    """The component of a folder, to be called with its `key` and `data`.

    Streamlit keeps one definition under each name, so the name is the folder's.

    Args:
        folder: holds component.html.
        scripts: joined in this order; relative to the folder.
        styles: likewise.
    """
    return _registered(folder, tuple(scripts), tuple(styles))


def nothing() -> None:
    """For what only the value is wanted of: Streamlit reports no state value without a callback."""


def as_it_is(data: Mapping[str, Any]) -> tuple[dict[str, Any]]:
    """Wraps a component's data: its script finds it as `component.data[0]`.

    Streamlit looks for data frames among the values of a plain dictionary, and imports pandas for that: 80 MiB that a page without a
    data frame does not need.
    """
    return (dict(data),)


@functools.cache
def _registered(folder: Path, scripts: tuple[str, ...], styles: tuple[str, ...]) -> Any:
    def text(names: Sequence[str]) -> str:
        return "\n".join((folder / name).read_text("utf-8") for name in names)

    name = "_".join(("stethoscope", *folder.relative_to(_HERE).parts))
    return st.components.v2.component(name, html=text(["component.html"]), css=text(styles), js=text(scripts))
