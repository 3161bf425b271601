"""How a model is to be run, as a form: call style, precision, XLA, threads, device and memory; and what speaks against it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import streamlit as st

from dashboard import escape, linked, render, words
from stethoscope.devices import Machine
from stethoscope.errors import BadSetting
from stethoscope.memory.call_styles import TITLES, usual_call
from stethoscope.memory.refusals import Refusal, nearest_valid, refusals
from stethoscope.memory.run_settings import DEVICES, PRECISIONS, RunSettings
from stethoscope.models.formats import format_of
from stethoscope.sizes import parse_size
from stethoscope.types import Architecture

MIB = 1 << 20
_LABELS: Mapping[str, tuple[render.Tone, str]] = {
    "refused": ("bad", "TensorFlow refuses this"),
    "not here": ("careful", "Not on this machine"),
    "note": ("plain", "Good to know"),
}
_DEVICE_TITLES = {"auto": "Automatic", "cpu": "CPU", "gpu": "GPU"}
_ALLOCATOR_TITLES = {"pool": "TensorFlow's pool (as it comes)", "system": "Gives freed memory back"}


def draw(batch_size: int, architecture: Architecture) -> RunSettings | None:
    """Draws the choices that this model's format has; returns the settings, or None after saying what is wrong."""
    kind = format_of(architecture)
    if kind.runtime != "tensorflow":
        st.caption("This file has a runtime of its own, on the CPU: batch and memory limit are what can be chosen.")
        return RunSettings(batch_size=batch_size, allocator="pool")
    call, precision, xla = usual_call(kind), "as saved", False
    first = st.grid(4, min_column_width=150, vertical_alignment="bottom")
    if kind.live:
        with first.cell():
            call = linked.select("Called as", TITLES, call, "call")
        with first.cell():
            precision = linked.select("Precision", {name: name for name in PRECISIONS}, "as saved", "precision")
    with first.cell():
        device = linked.select("Device", {name: _DEVICE_TITLES[name] for name in DEVICES}, "auto", "on")
    if kind.live:
        with first.cell():
            xla = st.toggle(
                "XLA", key="xla", bind="query-params", help="Compiles the call with XLA, whatever it is called as"
            )
    with st.popover("Threads and memory"):
        allocator = linked.select("Allocator on the CPU", _ALLOCATOR_TITLES, "pool", "allocator")
        intra = st.number_input(
            "Threads within an operation", 0, 4096, 0, key="intra", bind="query-params", help="0: as TensorFlow has it"
        )
        inter = st.number_input(
            "Operations at a time", 0, 4096, 0, key="inter", bind="query-params", help="0: as TensorFlow has it"
        )
        growth = st.toggle(
            "Memory growth", key="growth", bind="query-params", help="Takes the card's memory piece by piece"
        )
        limit = st.text_input(
            "Hard limit on the card", key="card-limit", bind="query-params", placeholder="none, or 4GB"
        )
        logical = st.text_input(
            "Logical devices",
            key="logical",
            bind="query-params",
            placeholder="none, or 4GB, 2GB",
            help="One size for each; on the CPU, 0 for each",
        )
    try:
        return RunSettings(
            batch_size=batch_size,
            call=call,
            precision=precision,
            xla=xla,
            allocator=allocator,
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


def _fill(chosen: RunSettings, most_mebibytes: int) -> None:
    """Puts settings into the form, before it is drawn."""
    st.session_state.update(
        {
            "call": chosen.call,
            "precision": chosen.precision,
            "xla": chosen.xla,
            "on": chosen.device,
            "allocator": chosen.allocator,
            "intra": chosen.intra_threads or 0,
            "inter": chosen.inter_threads or 0,
            "growth": chosen.memory_growth,
            "card-limit": _size(chosen.gpu_memory_limit_bytes),
            "logical": ", ".join(_size(size) or "0" for size in chosen.logical_devices),
        }
    )
    if chosen.memory_limit_bytes is not None:
        st.session_state["limit"] = min(max(16, chosen.memory_limit_bytes // MIB), most_mebibytes)


def _size(value: int | None) -> str:
    return f"{value // MIB}MiB" if value else ""


def objections(chosen: RunSettings, machine: Machine, *, tensorflow: bool, most_mebibytes: int) -> Sequence[Refusal]:
    """Says what speaks against the settings, with a button for the nearest that run; returns what keeps them from running."""
    found = refusals(chosen, machine, tensorflow=tensorflow)
    hindering = [refusal for refusal in found if refusal.kind != "note"]
    if not found:
        return hindering
    with st.container(border=True, gap="small"):
        for kind, refusals_of_kind in itertools.groupby(found, key=lambda refusal: refusal.kind):
            tone, label = _LABELS[kind]
            with st.container(gap=None):
                st.badge(label, color=render.colour(tone))
                messages = [escape.sentences(refusal.message) for refusal in refusals_of_kind]
                st.markdown("\n".join(f"- {message}" for message in messages) if len(messages) > 1 else messages[0])
        if hindering:
            nearest = nearest_valid(chosen, machine, tensorflow=tensorflow)
            st.button(
                "Use the nearest settings that run here",
                key="use-nearest",
                on_click=_fill,
                args=(nearest, most_mebibytes),
            )
    return hindering


def in_words(chosen: RunSettings) -> str:
    """The settings of a run as a line; what is as TensorFlow has it is left out."""
    parts = [words.plural(chosen.batch_size, "row"), TITLES[chosen.call]]
    if chosen.precision != "as saved":
        parts.append(chosen.precision)
    if chosen.xla:
        parts.append("XLA")
    if chosen.device != "auto":
        parts.append(_DEVICE_TITLES[chosen.device])
    if chosen.allocator == "system":
        parts.append("freed memory given back")
    if chosen.intra_threads:
        parts.append(f"{words.plural(chosen.intra_threads, 'thread')} within an operation")
    if chosen.inter_threads:
        parts.append(f"{words.plural(chosen.inter_threads, 'operation')} at a time")
    if chosen.memory_growth:
        parts.append("memory growth")
    if chosen.gpu_memory_limit_bytes:
        parts.append(f"{words.size(chosen.gpu_memory_limit_bytes)} of the card")
    if chosen.logical_devices:
        parts.append(words.plural(len(chosen.logical_devices), "logical device"))
    return escape.markdown(", ".join(parts), 300)
