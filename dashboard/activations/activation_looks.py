"""What layers put out for chosen samples: asked of a worker, read from its arrays, only what is looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import streamlit as st

from dashboard import asking, escape, outputs, words
from dashboard.activations.activation_input import Input
from stethoscope.activations.looking import LayerLook, LayerLooks
from stethoscope.activations.looks import LookKind
from stethoscope.codec import answer_of
from stethoscope.types import JobResult

MOST_LAYERS = 12
_BEFORE, _AFTER = 3, 8


@dataclass(frozen=True)
class Look:
    """One layer's output for one sample, without the rows' dimension."""

    layer: str
    output: str
    """The layer's path, with "#2" for its second call and ":1" for its second output."""
    place: int
    kind: LookKind
    shape: tuple[int, ...]
    """As the layer gives it; `values` may be thinned."""
    note: str
    values: npt.NDArray[Any]
    channels: tuple[int, ...] = ()
    """Which of the layer's are in `values`, where some were left out."""
    min: float | None = None
    max: float | None = None
    """Of the layer's finite values."""


def ask(
    given: Input, layers: Sequence[str], places: Sequence[int], *, slot: str = "look", **more: Any
) -> tuple[list[Look], LayerLooks] | None:
    """The looks at `layers` for the rows at `places`; None while they are on their way, which is drawn.

    Args:
        given: model and data.
        layers: paths, at most `MOST_LAYERS`.
        places: rows.
        slot: see `asking.answer`.
        more: further parameters of the task.
    """
    assert given.view.entry is not None
    wanted = list(layers[:MOST_LAYERS])
    params = {"layers": wanted, "places": list(places), "seed": 0, **more, "also": _around(given, wanted)}
    job = given.job("look", params)
    result = asking.covered(job, given.view, lambda had, answer: _covers(job.params, had, answer))
    if result is None:
        result = asking.answer(job, given.view, given.view.entry.name, slot=slot)
    if result is None:
        return None
    layer_at = {path: at for at, path in enumerate(wanted)} | {
        path.partition("#")[0]: at for at, path in enumerate(wanted)
    }
    place_at = {place: at for at, place in enumerate(places)}
    answer = answer_of(result, LayerLooks)
    shown = [about for about in answer.looks if about.layer in layer_at and about.place in place_at]
    found = [look for about in shown if (look := _look(result, about)) is not None]
    found.sort(key=lambda look: (layer_at[look.layer], place_at[look.place]))
    for about in shown:
        if about.file is None and about.note:
            st.caption(f"{escape.code(about.output, 60)}: {escape.sentences(about.note)}")
    return found, answer


def _around(given: Input, layers: Sequence[str]) -> list[str]:
    """Layers beside the first one chosen, which the visitor is likely to look at next: opening the model is what takes time."""
    known = [layer.path for layer in given.architecture.layers]
    first = layers[0].partition("#")[0] if layers else ""
    at = known.index(first) if first in known else 0
    return [path for path in known[max(0, at - _BEFORE) : at + _AFTER + 1] if path not in layers]


def _covers(asked: Mapping[str, Any], had: Mapping[str, Any], answer: JobResult) -> bool:
    """Whether what was `had` shows every layer and row that is `asked` for, all else being the same."""
    if any(asked.get(name) != had.get(name) for name in {*asked, *had} - {"layers", "places", "also"}):
        return False
    kept = {(about.layer, about.place) for about in answer_of(answer, LayerLooks).looks if about.file is not None}
    return all((layer, place) in kept for layer in asked["layers"] for place in asked["places"])


def unreachable(answer: LayerLooks, layers: Sequence[str]) -> None:
    """Says which of the layers asked for cannot be seen, and why."""
    for one in answer.unreachable:
        if one.path in layers:
            st.caption(f"{escape.code(one.path, 60)}: {escape.sentences(one.reason)}")


def heading(look: Look, given: Input) -> None:
    """The layer's name, shape, row and range above its picture."""
    size = " × ".join(f"{size:,}" for size in look.shape) or "one number"
    finite = look.values[np.isfinite(look.values)] if look.values.dtype.kind == "f" else look.values
    parts = [escape.code(look.output, 60), size, escape.markdown(given.called(look.place))]
    if finite.size:
        parts.append(f"{_number(look.min, finite.min())} to {_number(look.max, finite.max())}")
    if finite.size < look.values.size:
        parts.append(f"**{look.values.size - finite.size:,} values are NaN or infinite**")
    st.markdown(" · ".join(parts))
    if look.note:
        st.caption(escape.sentences(look.note))


def _number(value: float | None, otherwise: Any) -> str:
    return words.significant(float(otherwise if value is None else value))


def _look(result: JobResult, about: LayerLook) -> Look | None:
    path = result.files.get(about.file) if about.file is not None else None
    values = None if path is None else outputs.load(path)
    if values is None or values.dtype.kind not in "fiub":
        return None
    return Look(
        about.layer,
        about.output,
        about.place,
        about.kind,
        about.shape,
        about.note,
        values,
        about.channels,
        about.min,
        about.max,
    )
