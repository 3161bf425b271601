"""What a comparison of data is asked to do: how often it may be wrong, what counts, which columns, and what the model makes of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import escape, linked, own_code
from dashboard.deployment import drift_fit
from dashboard.deployment.drift_fit import Known
from dashboard.deployment.drift_sides import Sides
from dashboard.session import View
from stethoscope.activations.reach import INPUT_TYPES
from stethoscope.drift.settings import MOST_ROWS, ROWS
from stethoscope.types import Architecture

_ALPHAS = {"0.1": "1 time in 10", "0.05": "1 time in 20", "0.01": "1 time in 100", "0.001": "1 time in 1,000"}
_EFFECTS = {"any": "Any", "small": "Small (PSI 0.1)", "large": "Large (PSI 0.25)"}
_LOG = {
    "time": "Column of moments",
    "prediction": "Column of predictions",
    "confidence": "Column of confidence",
    "label": "Column of labels",
}
_BY_NAME, _NONE = "found", "none"
_MOST_COLUMNS = 50
_WHY = 160


@dataclass(frozen=True)
class Chosen:
    """What was chosen, and where the button goes."""

    params: dict[str, Any]
    with_model: bool
    may: bool
    """Whether it can be run."""
    go: DeltaGenerator


def draw(view: View, architecture: Architecture | None, sides: Sides, known: Known) -> Chosen:
    """The few settings in a row, the rest under More.

    Args:
        view: who looks, at which model.
        architecture: of the model in view, if it can be run.
        sides: what is compared.
        known: of the reference.
    """
    row = st.grid(4, min_column_width=170, vertical_alignment="bottom")
    params: dict[str, Any] = {}
    with row.cell():
        params["alpha"] = float(
            linked.select(
                "Wrong at most",
                _ALPHAS,
                "0.05",
                "alpha",
                about="How often the verdict may be drift where there is none, over all features together",
            )
        )
    with row.cell():
        effect = linked.select(
            "Smallest drift that counts",
            _EFFECTS,
            "any",
            "effect",
            about="In large data every trifle is significant. PSI is counted above what chance gives so few rows.",
        )
        params["min_effect"] = "" if effect == "any" else effect
    with row.cell().popover("More", width="stretch"):
        params |= _more(known, split=sides.current is None)
        layer = _layer(architecture) if known.fits and sides.current is not None else ""
    go = row.cell()
    with_model, may = _model(view, architecture, sides, known)
    if with_model:
        params["layer"] = layer
    return Chosen(params, with_model, may, go)


def _more(known: Known, *, split: bool) -> dict[str, Any]:
    names = {name: escape.clip(name, 60) for name in known.columns}
    found: dict[str, Any] = {}
    if len(names) > 1:
        for key, label, hint in (("columns", "Only these columns", "All of them"), ("ignore", "Leave out", "None")):
            found[key] = linked.several(label, names, key, most=_MOST_COLUMNS, placeholder=hint)
        st.caption("In a log of predictions:")
        grid = st.grid(2, min_column_width=150)
        for key, label in _LOG.items():
            with grid.cell():
                titles = {
                    _BY_NAME: "Found by its name",
                    **({} if split and key == "time" else {_NONE: "None"}),
                    **names,
                }
                chosen = linked.select(label, titles, _BY_NAME, f"{key}-column")
                found[key] = "" if chosen == _BY_NAME else chosen
    found["rows"] = int(
        st.number_input(
            "Rows of each side",
            10,
            MOST_ROWS,
            ROWS,
            key="most-rows",
            bind="query-params",
            help="Of more, so many are chosen at random",
        )
    )
    found["subgroups"] = st.toggle("Look for groups in which it is worst", True, key="groups", bind="query-params")
    found["seed"] = int(
        st.number_input("Seed", 0, 2**31 - 1, 0, key="seed", bind="query-params", help="Of whatever is drawn at random")
    )
    return found


def _layer(architecture: Architecture | None) -> str:
    if architecture is None:
        return ""
    paths = [one.path for one in architecture.layers if one.type not in INPUT_TYPES]
    titles = {_BY_NAME: "The last before the output"} | {path: escape.clip(path, 60) for path in paths}
    chosen = linked.select(
        "Layer that sees both", titles, _BY_NAME, "seen-by", about="Whose output is compared as wholes"
    )
    return "" if chosen == _BY_NAME else chosen


def _model(view: View, architecture: Architecture | None, sides: Sides, known: Known) -> tuple[bool, bool]:
    """(whether the model sees both, whether the run may begin)."""
    if architecture is None or view.entry is None:
        return False, True
    name = escape.code(view.entry.name, 40)
    if sides.current is None:
        st.caption(f"With data of today as a second file, what {name} makes of both is compared too.")
        return False, True
    on = st.toggle(
        f"Also what {name} makes of both: predictions, confidence, a layer",
        known.fits,
        disabled=not known.fits,
        key=f"with-model-{sides.reference_id}-{known.fits}",
    )
    steps = sides.reference.preparation.words()
    if steps or not known.fits:
        with st.container(horizontal=True, vertical_alignment="center"):
            if known.fits:
                st.caption("Prepared: " + escape.markdown(", ".join(steps), 200))
            else:
                st.caption(f"It does not take this data: {escape.markdown(known.why_not, _WHY)}")
            drift_fit.prepare_link(sides.reference_id, "Change" if known.fits else "Prepare it")
    return on and known.fits, not on or own_code.allowed(view, architecture)
