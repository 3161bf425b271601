"""How a model is to be run, as a form: call style, precision, XLA, threads, device and memory; and what speaks against it."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dashboard import escape, render, words
from stethoscope.devices import Machine
from stethoscope.errors import BadSetting
from stethoscope.memory.call_styles import TITLES
from stethoscope.memory.refusals import Refusal, nearest_valid, refusals
from stethoscope.memory.run_settings import CALLS, DEVICES, PRECISIONS, RunSettings
from stethoscope.sizes import parse_size

MIB = 1 << 20
_LABELS = {
    "refused": ("bad", "TensorFlow refuses this"),
    "not here": ("careful", "Not on this machine"),
    "note": ("plain", "Good to know"),
}
_WIDGETS = (
    "set-call", "set-precision", "set-xla", "set-device", "set-intra", "set-inter", "set-growth", "set-gpu-limit",
    "set-logical",
)  # fmt: skip


def draw(batch_size: int) -> RunSettings | None:
    """Draws the form; returns the settings, or None after saying what is wrong with a value."""
    wanted = st.session_state.pop("_nearest", None)
    if isinstance(wanted, RunSettings):
        _fill(wanted)
    first = st.grid(4, min_column_width=150, vertical_alignment="bottom")
    with first.cell():
        call = st.selectbox(
            "Call style", CALLS, index=CALLS.index("function"), format_func=lambda name: TITLES[name], key="set-call"
        )
    with first.cell():
        precision = st.selectbox("Precision", PRECISIONS, key="set-precision")
    with first.cell():
        device = st.selectbox(
            "Device",
            DEVICES,
            key="set-device",
            format_func=lambda name: name.upper() if name != "auto" else "Automatic",
        )
    with first.cell():
        xla = st.toggle("XLA", key="set-xla", help="Compiles the call with XLA, whatever the call style")
    with st.popover("Threads and the card's memory"):
        intra = st.number_input(
            "Threads within an operation", 0, 4096, 0, key="set-intra", help="0: as TensorFlow has it"
        )
        inter = st.number_input("Operations at a time", 0, 4096, 0, key="set-inter", help="0: as TensorFlow has it")
        growth = st.toggle("Memory growth", key="set-growth", help="Takes the card's memory piece by piece")
        limit = st.text_input("Hard limit on the card", key="set-gpu-limit", placeholder="none, or 4GB")
        logical = st.text_input(
            "Logical devices", key="set-logical", placeholder="none, or 4GB, 2GB",
            help="One size for each; on the CPU, 0 for each",
        )  # fmt: skip
    try:
        return RunSettings(
            batch_size=batch_size,
            call=call,
            precision=precision,
            xla=xla,
            device=device,
            intra_threads=int(intra) or None,
            inter_threads=int(inter) or None,
            memory_growth=growth,
            gpu_memory_limit_bytes=parse_size(limit) if limit else None,
            logical_devices=tuple(_logical_size(part) for part in (logical or "").split(",") if part.strip()),
        )
    except BadSetting as error:
        st.warning(escape.sentences(error))
        return None


def _logical_size(text: str) -> int:
    return 0 if text.strip() == "0" else parse_size(text)


def _fill(chosen: RunSettings) -> None:
    values = (
        chosen.call, chosen.precision, chosen.xla, chosen.device, chosen.intra_threads or 0, chosen.inter_threads or 0,
        chosen.memory_growth, _size(chosen.gpu_memory_limit_bytes), ", ".join(_size(size) or "0" for size in chosen.logical_devices),
    )  # fmt: skip
    for key, value in zip(_WIDGETS, values, strict=True):
        st.session_state[key] = value


def _size(value: int | None) -> str:
    return f"{value // MIB}MiB" if value else ""


def objections(chosen: RunSettings, machine: Machine, *, tensorflow: bool) -> list[Refusal]:
    """Says what speaks against the settings, with a button for the nearest that run; returns what keeps them from running."""
    found = refusals(chosen, machine, tensorflow=tensorflow)
    for refusal in found:
        tone, label = _LABELS[refusal.kind]
        with st.container(border=True, gap=None):
            st.badge(label, color=render.colour(tone))  # type: ignore[arg-type]
            st.markdown(escape.sentences(refusal.message))
    hindering = [refusal for refusal in found if refusal.kind != "note"]
    if hindering and st.button("Use the nearest settings that run here", key="use-nearest"):
        st.session_state["_nearest"] = nearest_valid(chosen, machine, tensorflow=tensorflow)
        st.rerun()
    return hindering


def in_words(chosen: RunSettings) -> str:
    """The settings that differ from the plain ones, as a line."""
    plain, parts = replace(RunSettings(), batch_size=chosen.batch_size), [words.plural(chosen.batch_size, "row")]
    if chosen.call != plain.call:
        parts.append(TITLES[chosen.call])
    if chosen.precision != plain.precision:
        parts.append(chosen.precision)
    if chosen.xla:
        parts.append("XLA")
    return ", ".join(parts)
