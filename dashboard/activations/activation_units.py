"""One layer over all rows: its histogram, its units, and the samples that excite a unit most."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import streamlit as st

from dashboard import escape, figures, linked, outputs, words
from dashboard.activations import activation_figures, activation_projection
from dashboard.activations.activation_input import Input
from stethoscope.activations.layer_totals import LayerStatistics
from stethoscope.types import JobResult

SORTS = {
    "max": "Largest value",
    "std": "Spread",
    "zero": "Share of zeros",
    "saturated": "Share saturated",
    "unit": "Number",
}
_LISTED = 200


def show(given: Input, result: JobResult, layer: LayerStatistics) -> None:
    """Histogram, units and top samples of the layer that is chosen."""
    st.markdown(f"**{escape.code(layer.path, 60)}** over {words.plural(layer.rows, 'row')}")
    told = layer.histogram
    if told is not None:
        st.plotly_chart(
            activation_figures.histogram(told.edges, told.counts),
            config=figures.CONFIG,
            key="layer-histogram",
            alt="Histogram of the layer's values over all rows",
        )
        if told.of > sum(told.counts):
            st.caption(f"A sample of {words.count(sum(told.counts))} of {words.count(told.of)} values.")
    units = _file(result, layer.units_file)
    if units is None or units.dtype.names is None:
        st.caption("This layer has no units to tell apart.")
        return
    _silent(units, layer)
    order = _table(units)
    _top(given, result, layer, order)


def _file(result: JobResult, name: str | None) -> npt.NDArray[Any] | None:
    path = result.files.get(name) if name else None
    return None if path is None else outputs.load(path)


def _silent(units: npt.NDArray[Any], layer: LayerStatistics) -> None:
    if layer.dead_units:
        dead = np.flatnonzero(units["zero_fraction"] >= 1.0)
        st.markdown(f"**Dead** ({words.count(len(dead))}): 0 for every row. Units {_listed(dead)}")
    if layer.saturated_units:
        stuck = np.flatnonzero(units["saturated_fraction"] >= 1.0)
        st.markdown(f"**Always saturated** ({words.count(len(stuck))}): units {_listed(stuck)}")


def _listed(units: npt.NDArray[np.intp]) -> str:
    shown = ", ".join(words.count(int(one)) for one in units[:60])
    return shown + (f" and {words.count(len(units) - 60)} more" if len(units) > 60 else "")


def _table(units: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    by = linked.select("Units by", SORTS, "max", "units-by")
    key = {
        "max": -units["max"],
        "std": -units["std"],
        "zero": -units["zero_fraction"],
        "saturated": -units["saturated_fraction"],
    }
    order = np.argsort(np.nan_to_num(key[by], nan=np.inf), kind="stable") if by in key else np.arange(len(units))
    shown = order[:_LISTED]
    with st.expander(f"{words.plural(len(units), 'unit')} in numbers"):
        st.dataframe(
            {"Unit": [words.count(int(one)) for one in shown]}
            | {
                title: [_said(units[name][one], share=name.endswith("fraction")) for one in shown]
                for name, title in (
                    ("mean", "Mean"),
                    ("std", "Std"),
                    ("min", "Lowest"),
                    ("max", "Highest"),
                    ("zero_fraction", "Zero"),
                    ("saturated_fraction", "Saturated"),
                )
            },
            hide_index=True,
            height=360,
        )
        if len(units) > _LISTED:
            st.caption(f"The first {_LISTED} by this order of {words.count(len(units))}.")
    return order


def _said(value: Any, *, share: bool) -> str:
    number = float(value)
    if not np.isfinite(number):
        return ""
    return words.share(number, 1.0) if share else words.significant(number)


def _top(given: Input, result: JobResult, layer: LayerStatistics, order: npt.NDArray[np.intp]) -> None:
    top = _file(result, layer.top_file)
    if top is None or top.dtype.names is None:
        return
    st.markdown("**Samples that excite a unit most**")
    offered = [int(one) for one in order if int(one) < len(top)][:_LISTED]
    if not offered:
        return
    unit = st.selectbox("Unit", offered, key=f"unit-{layer.path}", format_func=lambda one: f"unit {one}", width=220)
    found = [(int(one["place"]), float(one["value"])) for one in top[unit] if int(one["place"]) >= 0]
    if not found:
        st.caption("No row excites this unit.")
        return
    st.caption("Largest value per row: " + ", ".join(words.significant(value) for _, value in found))
    activation_projection.strip(given, [place for place, _ in found], key="top-samples")
