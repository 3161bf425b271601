"""Weights without a graph: every array with its statistics; two files of weights, or weights and a model, beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from dashboard import analysis, asking, choices, escape, panel, progress, render, session, words
from dashboard.architecture import layer_table, weights_parts
from dashboard.architecture.layer_table import Column
from dashboard.kept_answers import kept
from dashboard.session import View
from stethoscope.codec import partial_of
from stethoscope.jobs.protocol import JobState
from stethoscope.jobs.store import Entry
from stethoscope.models.weights.tensor_summary import LayerTensor
from stethoscope.tasks.compare_weights import ArrayDifference, WeightsDifference
from stethoscope.tasks.describe import Description
from stethoscope.tasks.weights_of_layer import LayerWeights
from stethoscope.types import Budget, Job, JobResult

_HEIGHT = 470
_MEMORY_BYTES = 2 << 30
_TIME_S = 600.0
_VERDICTS: Mapping[str, tuple[render.Tone, str, str]] = {
    "equal": ("good", "The same", "Every weight is the same, to the bit."),
    "within_tolerance": (
        "good",
        "The same up to rounding",
        "No array is apart by more than rounding to float32 leaves.",
    ),
    "different": ("careful", "Different", ""),
}


def show(view: View, state: JobState) -> None:
    """The table of all arrays, and the one that is selected with its histogram."""
    assert view.entry is not None
    described = None if state.result is None else analysis.description_in(state.result)
    if described is None:
        return
    tensors = described.weights
    bad = sum(1 for one in tensors if one.nonfinite)
    if bad:
        render.verdict(
            "bad",
            "NaN or infinite",
            f"{words.count(bad)} of {words.plural(len(tensors), 'array')} with values that are not finite.",
        )
    st.caption(
        "Weights without a graph: names, shapes and values, and nothing that says how they are computed with. Choose a model under "
        "*Compare with…* to see whether they fit it."
    )
    for warning in described.warnings:
        st.caption(escape.sentences(warning))
    selected = _selected(view.entry, tensors)
    text, sort = layer_table.show(
        _columns(described),
        next((place for place, one in enumerate(tensors[: layer_table.MAX_ROWS]) if one.name == selected), None),
        summary=f"{words.plural(len(tensors), 'array')}, {words.plural(described.parameters.total, 'parameter')}",
        height=_HEIGHT,
        key=_key(view.entry),
        text=session.recalled("filter") or "",
        sort=session.recalled("sort") or "",
    )
    session.remember("filter", text or None)
    session.remember("sort", sort or None)
    one = next((one for one in tensors if one.name == selected), None)
    if one is None:
        st.caption("Click an array to see how its values are spread.")
        return
    with st.container(border=True):
        st.markdown(escape.code(one.name, 200))
        weights_parts.answer(
            LayerWeights(one.name, {}, (one,), f"{one.name}: {one.unreadable}." if one.unreadable else "")
        )


def _key(entry: Entry) -> str:
    return f"arrays-{entry.id}"


def _selected(entry: Entry, tensors: Sequence[LayerTensor]) -> str | None:
    components = {_key(entry): layer_table.TOLD}
    choice = choices.newest(components)
    if choice is not None:
        known = isinstance(choice.value, int) and 0 <= choice.value < min(len(tensors), layer_table.MAX_ROWS)
        session.remember("layer", tensors[choice.value].name if known else None)
        choices.take(components)
    return session.recalled("layer")


@kept
def _columns(described: Description) -> list[Column]:
    tensors = described.weights
    kinds = [layer.type for layer in described.layers]
    return [
        Column("name", "Array", [escape.clip(one.name, 300) for one in tensors], width=(14, 3)),
        Column("kind", "Is", [escape.clip(kind, 40) for kind in kinds], width=(6, 0.5)),
        Column("shape", "Shape", [words.shape(one.shape) for one in tensors], width=(7, 1)),
        Column("dtype", "dtype", [escape.clip(one.dtype, 24) for one in tensors], width=(5.5, 0.5)),
        Column("values", "Values", values=[one.count for one in tensors], width=(5.5, 0.5)),
        *(
            Column(
                name,
                name.title(),
                [_number(getattr(one, name)) for one in tensors],
                [getattr(one, name) for one in tensors],
                width=(5.5, 0.5),
            )
            for name in ("mean", "std", "min", "max")
        ),
        Column(
            "zeros",
            "Zeros",
            ["–" if one.zero_fraction is None else words.share(one.zero_fraction, 1) for one in tensors],
            [one.zero_fraction for one in tensors],
            width=(4.5, 0.5),
        ),
        Column(
            "bad",
            "NaN or ∞",
            ["–" if one.nonfinite is None else words.count(one.nonfinite) for one in tensors],
            [one.nonfinite for one in tensors],
            width=(5.5, 0.5),
        ),
    ]


def _number(value: float | None) -> str:
    return "–" if value is None else words.significant(value)


def beside(view: View, other: Entry) -> None:
    """Two sets of weights, or a model and weights: what fits, and how far values are apart."""
    assert view.entry is not None
    files = {"model": view.entry.file, "other": other.file}
    state = asking.state_of(Job("compare_weights", files, {}, Budget(_MEMORY_BYTES, _TIME_S), "light"), view)
    if not state.done:
        progress.watch(state, subject=f"{view.entry.name} and {other.name}", may_cancel=panel.may_cancel(state, view))
        return
    found = None if state.result is None else _difference(state.result)
    if found is None:
        render.ending(state)
        return
    names = view.entry.title or view.entry.name, other.title or other.name
    level, title, line = _VERDICTS[found.verdict]
    if found.misfits or found.only_a or found.only_b:
        apart = len(found.misfits) + len(found.only_a) + len(found.only_b)
        title, line = (
            "They do not fit",
            f"{words.plural(apart, 'difference')}; {words.plural(len(found.weights), 'array')} fit.",
        )
        level = "bad"
    elif not line:
        apart = sum(1 for one in found.weights if one.changed)
        line = f"{words.count(apart)} of {words.plural(len(found.weights), 'array')} with other values."
    render.verdict(level, title, line)
    if found.note:
        st.caption(escape.sentences(found.note))
    _misfits(found, names)
    if found.weights:
        rows = sorted(found.weights, key=lambda one: (not one.is_weight, -one.relative))
        st.dataframe(_table(rows), hide_index=True, height="content" if len(rows) <= 12 else 440)


@kept
def _difference(result: JobResult) -> WeightsDifference | None:
    return partial_of(result, WeightsDifference)


def _misfits(found: WeightsDifference, names: tuple[str, str]) -> None:
    rows = [(one.layer, one.weight, one.in_model, one.in_weights) for one in found.misfits]
    columns = {
        "Layer": [
            *(escape.clip(row[0], 200) for row in rows),
            *(escape.clip(name, 200) for name in (*found.only_a, *found.only_b)),
        ],
        "Array": [*(escape.clip(row[1], 100) for row in rows), *("all" for _ in (*found.only_a, *found.only_b))],
        escape.clip(names[0], 40): [
            *(_size(row[2]) for row in rows),
            *("has it" for _ in found.only_a),
            *("–" for _ in found.only_b),
        ],
        f"{escape.clip(names[1], 40)} ": [
            *(_size(row[3]) for row in rows),
            *("–" for _ in found.only_a),
            *("has it" for _ in found.only_b),
        ],
    }
    if columns["Layer"]:
        st.dataframe(columns, hide_index=True, height="content" if len(columns["Layer"]) <= 12 else 440)


def _size(shape: tuple[int, ...] | None) -> str:
    return "–" if shape is None else words.shape(shape)


def _table(rows: Sequence[ArrayDifference]) -> dict[str, list[str]]:
    return {
        "Array": [escape.clip(one.name, 200) for one in rows],
        "Shape": [words.shape(one.shape) for one in rows],
        "Difference": [one.unreadable or words.share(one.relative, 2) for one in rows],
        "Largest": ["" if one.unreadable else words.significant(one.max_abs_diff) for one in rows],
        "Changed values": ["" if one.unreadable else words.count(one.changed) for one in rows],
        "NaN or ∞ here": ["" if one.unreadable else words.count(one.nonfinite_a) for one in rows],
        "in the other": ["" if one.unreadable else words.count(one.nonfinite_b) for one in rows],
    }
