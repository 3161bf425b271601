"""What is asked of an attribution: the method, the score it explains, and the few settings each method has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from dashboard import escape, linked, session
from dashboard.activations.activation_input import Input
from stethoscope.activations.attributions import all_methods
from stethoscope.activations.attributions.baselines import BASELINES
from stethoscope.activations.attributions.gradients import candidates, default_layer
from stethoscope.models.formats import format_of
from stethoscope.types import Architecture

_BASELINE_TITLES = {
    "": "What suits the input",
    "zero": "Zero (black)",
    "mean": "Mean of the data",
    "blur": "The sample blurred",
    "low": "Its lowest value",
    "high": "Its highest value",
    "noise": "Random noise",
}
_MOST_LAYERS = 400


def settings(given: Input, layers: Sequence[str]) -> dict[str, Any] | None:
    """Draws the settings; returns the task's parameters, None where nothing can be asked."""
    architecture = given.architecture
    methods = offered(architecture)
    row = st.grid(4, min_column_width=150, vertical_alignment="bottom")
    with row.cell():
        method = linked.select("Method", {name: all_methods()[name].title for name in methods}, methods[0], "method")
    params: dict[str, Any] = {"method": method, "seed": 0}
    names = [spec.name for spec in architecture.outputs]
    if len(names) > 1:
        with row.cell():
            params["output"] = _name("Output", names, "why-output")
    with row.cell():
        params["target"] = _target(architecture, params.get("output"))
    if len(architecture.inputs) > 1:
        with row.cell():
            params["input"] = _name("Input", [spec.name for spec in architecture.inputs], "why-input")
    if method == "grad_cam":
        with row.cell():
            params["layer"] = _layer(architecture, layers)
    elif method in ("integrated_gradients", "occlusion"):
        with row.cell():
            params["baseline"] = linked.select(
                "Baseline",
                {name: _BASELINE_TITLES[name] for name in ("", *BASELINES)},
                "",
                "baseline",
                about="What stands for “nothing here”",
            )
    if method == "occlusion":
        with row.cell():
            patch = st.number_input(
                "Patch",
                0,
                1_024,
                0,
                key="patch",
                bind="query-params",
                help="Side of the part that is covered: pixels, steps, features or tokens; 0 for what suits the input",
            )
            params["patch"] = int(patch) or None
    elif method == "integrated_gradients":
        with row.cell():
            steps = st.number_input(
                "Steps",
                0,
                2_187,
                0,
                key="steps",
                bind="query-params",
                help="0: tripled until the shares add up to 1 %, or 2,187 are reached",
            )
            params["steps"] = int(steps) or None
    st.caption(escape.sentences(all_methods()[method].about))
    if not _has_gradients(architecture):
        st.caption(
            f"{escape.markdown(architecture.display_format)} files hold a finished computation without gradients: "
            "only occlusion works."
        )
    return {name: value for name, value in params.items() if value not in (None, "")}


def offered(architecture: Architecture) -> list[str]:
    """Ids of the methods that make sense for a model, the one to begin with first."""
    gradients = _has_gradients(architecture)
    convolutional = default_layer(architecture) is not None
    return [
        name
        for name, method in all_methods().items()
        if (gradients or not method.needs_gradients) and (convolutional or name != "grad_cam")
    ]


def _has_gradients(architecture: Architecture) -> bool:
    return format_of(architecture).runtime == "tensorflow"


def _target(architecture: Architecture, output: str | None) -> str:
    spec = next((one for one in architecture.outputs if output in (None, one.name)), None)
    units = spec.shape[-1] if spec is not None and spec.shape and len(spec.shape) > 1 else None
    asked = st.text_input(
        "Explain class",
        key="why-target",
        bind="query-params",
        placeholder="the highest",
        disabled=units == 1,
        help=f"A number from 0 to {units - 1}; empty for the highest" if units else "Empty for the highest",
    )
    return asked.strip() if asked and asked.strip().isdecimal() else "top"


def _layer(architecture: Architecture, layers: Sequence[str]) -> str:
    found = [layer.path for layer in candidates(architecture)][-_MOST_LAYERS:]
    usual = default_layer(architecture)
    if usual is not None and usual.path not in found:
        found.append(usual.path)
    start = session.recalled("cam-layer")
    default = start if start in found else usual.path if usual is not None else found[-1]
    chosen = st.selectbox(
        "Layer",
        found,
        index=found.index(default),
        key="cam-layer-box",
        format_func=lambda one: escape.clip(one, 50),
        help="The last convolution is usual; earlier ones are finer and less about the class",
    )
    session.remember("cam-layer", None if usual is not None and chosen == usual.path else chosen)
    return chosen


def _name(label: str, names: Sequence[str], key: str) -> str:
    asked = session.recalled(key)
    offered = list(names)
    chosen = st.selectbox(
        label,
        offered,
        index=offered.index(asked) if asked is not None and asked in offered else 0,
        key=f"{key}-box",
        format_func=lambda one: escape.clip(one, 40),
    )
    session.remember(key, None if chosen == offered[0] else chosen)
    return chosen
