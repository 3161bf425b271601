"""The model in view beside itself: the ways to run it that may be compared with the usual one."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from dashboard import session
from stethoscope.compare.parity.precision import OFFERED, said
from stethoscope.devices import this_machine
from stethoscope.memory.run_settings import RunSettings
from stethoscope.models.formats import format_of
from stethoscope.types import Architecture

PREFIX = "way-"
"""Of the names under which comparisons with itself are shown: no model's id begins so."""
ADDRESS = "ways"


def choose(architecture: Architecture, compared: Iterable[str]) -> list[str]:
    """Draws the choice; returns the names of the chosen ways.

    Args:
        architecture: of the model in view.
        compared: the names of the comparisons that are shown; they are chosen where the address names none.
    """
    offered = ways(architecture)
    if ADDRESS not in st.session_state:
        linked = [one for one in (session.recalled(ADDRESS) or "").split(",") if one]
        st.session_state[ADDRESS] = [one for one in linked or compared if one in offered]
    st.session_state[ADDRESS] = [one for one in st.session_state[ADDRESS] if one in offered]
    chosen: list[str] = st.multiselect(
        "And with itself, run another way",
        list(offered),
        format_func=title,
        key=ADDRESS,
        placeholder="Other call styles, precisions, threads",
        help="The usual way is a tf.function for TensorFlow's models, and the runtime's own call for the others",
    )
    session.remember(ADDRESS, ",".join(chosen) or None)
    return chosen


def ways(architecture: Architecture) -> dict[str, RunSettings]:
    """The ways that fit a model on this machine, by name."""
    keras = format_of(architecture).live
    tensorflow = format_of(architecture).runtime == "tensorflow"
    gpus = bool(this_machine().gpus)
    found = {}
    for key, settings in OFFERED.items():
        usual = RunSettings()
        if settings.device != usual.device and not (tensorflow and gpus):
            continue
        if (settings.call, settings.precision) != (usual.call, usual.precision) and not keras:
            continue
        found[PREFIX + key] = settings
    return found


def settings_of(name: str) -> RunSettings | None:
    """The settings of a way by its name; None for what is none."""
    return OFFERED.get(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else None


def title(name: str) -> str:
    """A way in words."""
    settings = settings_of(name)
    return name if settings is None else said(settings)
