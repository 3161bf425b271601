"""What fits on which devices, and how is it spread over them?"""

from __future__ import annotations

import streamlit as st

from dashboard import described, escape, recipes, render, session
from dashboard.cost import planner_parts, sharing_inputs
from stethoscope.architecture.model_shape import model_shape
from stethoscope.architecture.open_sizes import USUAL, open_axes, sizes_of_file
from stethoscope.architecture.xla_use import xla_use
from stethoscope.errors import StethoscopeError
from stethoscope.memory.planner.plan import Settings, for_model, plan, workload
from stethoscope.memory.planner.step_time import assumptions
from stethoscope.memory.planner.strategy_code import strategy_codes
from stethoscope.memory.planner.tpu_limits import tpu_limits
from stethoscope.types import Architecture

KINDS = ("One model on many devices", "Several models on one card")
PAGE = {"title": "Planner", "section": "Cost", "url_path": "planner", "icon": ""}


def ready(view: session.View, architecture: Architecture) -> None:
    """The form, and the plans for it: arithmetic, so there is nothing to wait for."""
    assert view.entry is not None
    asked_for = st.segmented_control(
        "Plan for",
        KINDS,
        default=KINDS[0],
        key="plan-for",
        bind="query-params",
        required=True,
        label_visibility="collapsed",
    )
    if asked_for == KINDS[1]:
        sharing_inputs.page(view)
        return
    with st.container(border=True):
        given = planner_parts.settings(usual_length=_usual_length(architecture))
    if given is None:
        return
    asked, length = given
    try:
        own = for_model(architecture, asked)
        shape = model_shape(architecture, length, None)
        plans = plan(shape, own)
    except StethoscopeError as error:
        st.warning(escape.sentences(error))
        return
    chosen = planner_parts.answer(plans, own)
    if chosen is None:
        return
    loss = architecture.compile.loss if architecture.compile is not None else ""
    codes = strategy_codes(
        chosen,
        own,
        shape,
        view.entry.name,
        loss if isinstance(loss, str) else "",
        as_compiled=architecture.compile is not None and asked.optimizer == "auto",
        tied_by_xla=xla_use(architecture).setting == "on",
    )
    if own.device.is_tpu:
        planner_parts.on_tpu(tpu_limits(architecture))
    planner_parts.details(chosen, codes, shape.assumptions)
    with st.expander("How this was done"):
        st.markdown(
            "Computed from the layers' shapes: nothing was run. Weights, gradients and optimizer state are exact; activations are "
            "the least that the backward pass needs, and real programs keep somewhat more; workspace of kernels is not counted."
        )
        st.markdown(escape.sentences(assumptions(workload(shape, own), own.device)))
        st.markdown("The same from the command line:")
        st.code(_command(view.entry.name, asked, length), language="bash", wrap_lines=True)


def _command(name: str, asked: Settings, length: int | None) -> str:
    options = {
        "device": asked.device.id if asked.device.id != "own" else f"{asked.device.memory_bytes}B",
        "devices": asked.devices,
        "batch-size": asked.batch_size,
        "sequence-length": length,
        "precision": None if asked.precision == "auto" else asked.precision,
    }
    return recipes.command_line("plan", name, options) + ("" if asked.training else " --inference")


def _usual_length(architecture: Architecture) -> int | None:
    """The sequence length that is taken where none is given; None where the model leaves none open."""
    if not open_axes(architecture.inputs):
        return None
    return sizes_of_file(architecture.layers).or_else(USUAL).sequence_length


def page() -> None:
    """The question, then whatever can be said about it."""
    view = session.current()
    render.question("What fits on which devices, and how is it spread over them?")
    architecture = described.architecture(view)
    if architecture is not None:
        ready(view, architecture)


page()
