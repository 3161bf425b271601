"""The steps that prepare the data: listed in order, moved, removed, undone, and a form for one more."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import streamlit as st

from dashboard import escape, rerun
from dashboard.data import data_use
from stethoscope.data.preprocessing import all_steps
from stethoscope.data.preprocessing.parameter import REQUIRED, Parameter, Step, StepKind
from stethoscope.data.preprocessing.preparation import Preparation
from stethoscope.errors import StethoscopeError
from stethoscope.evidence.data_fit.report import Columns, DataFit

_UNDO = "_prep-undo"
_MOST_UNDONE = 50
_MEASURED = "standardize"
"""The step whose parameters are filled in with what was measured."""


def change(steps: Preparation) -> None:
    """Makes these the steps, and remembers the ones before."""
    before: list[str] = st.session_state.setdefault(_UNDO, [])
    before.append(data_use.preparation().to_address())
    del before[:-_MOST_UNDONE]
    data_use.prepare(steps)


def draw(preparation: Preparation, found: DataFit | None) -> None:
    """The list and what can be done with it; `found` is the answer of `fit_data`, None where there is none."""
    if not preparation.steps:
        st.caption(
            "None: the data is fed as it is. Steps chosen here are used by every page that runs the model on this data."
        )
    broken = found.broken.place if found is not None and found.broken is not None else None
    for place, text in enumerate(preparation.words()):
        _row(preparation, place, text, broken=broken == place)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        with st.popover("Add a step"):
            _form(preparation, found)
        st.button("Undo", key="prep-undo", on_click=_undo, disabled=not st.session_state.get(_UNDO))
        st.button(
            "Remove all", key="prep-clear", on_click=change, args=(Preparation(),), disabled=not preparation.steps
        )


def _row(preparation: Preparation, place: int, text: str, *, broken: bool) -> None:
    last = len(preparation.steps) - 1
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        of = preparation.steps[place].of
        array = f"{escape.code(of, 40)} " if of == "x" else ""
        mark = " :red-badge[does not apply]" if broken else ""
        st.markdown(f"{place + 1}. {array}{escape.markdown(text, 120)}{mark}", width="stretch")
        st.button(
            "↑",
            key=f"prep-up-{place}",
            help="Earlier",
            disabled=place == 0,
            on_click=change,
            args=(preparation.moved(place, -1),),
        )
        st.button(
            "↓",
            key=f"prep-down-{place}",
            help="Later",
            disabled=place == last,
            on_click=change,
            args=(preparation.moved(place, 1),),
        )
        st.button("Remove", key=f"prep-remove-{place}", on_click=change, args=(preparation.without(place),))


def _undo() -> None:
    before: list[str] = st.session_state.get(_UNDO) or []
    if before:
        data_use.prepare(Preparation.from_address(before.pop()))


def _arrays(found: DataFit | None) -> list[str]:
    """Names that a step can be of: those the model is fed from first."""
    sides = [] if found is None else [*(side.of for side in found.sides if side.of), *found.others]
    return list(dict.fromkeys(sides)) or ["x", "y"]


def _form(preparation: Preparation, found: DataFit | None) -> None:
    kinds = all_steps()
    kind = kinds[st.selectbox("Step", list(kinds), format_func=lambda one: kinds[one].title, key="prep-kind")]
    st.caption(escape.sentences((inspect.getdoc(type(kind)) or "").partition("\n")[0]))
    of = st.selectbox("Of", _arrays(found), format_func=lambda one: escape.clip(one, 60), key="prep-of")
    measured = _measured(kind, of, found)
    values = {one.name: _field(kind, one, of, measured.get(one.name)) for one in kind.parameters}
    if measured:
        st.caption("Filled in with what was measured on this data.")
    if st.button("Add", key="prep-add", type="primary"):
        try:
            wanted = preparation.with_step(Step(kind.id, of, _parsed(kind, values)))
        except StethoscopeError as error:
            st.error(escape.sentences(error))
        else:
            change(wanted)
            rerun.whole_page()


def _measured(kind: StepKind, of: str, found: DataFit | None) -> dict[str, str]:
    """Mean and deviation of the array as it is now, per column where it has columns."""
    inputs = () if found is None else found.inputs
    has = next((side.has for side in inputs if side.of == of and side.has), None)
    if kind.id != _MEASURED or has is None or has.mean is None or has.std is None:
        return {}
    columns = has.columns or Columns((has.mean,), (has.std,))
    return {
        name: ", ".join(f"{value:.6g}" for value in values)
        for name, values in (("mean", columns.mean), ("std", columns.std))
    }


def _field(kind: StepKind, one: Parameter, of: str, measured: str | None) -> Any:
    key = f"prep-{kind.id}-{of}-{one.name}-{measured or ''}"[:300]
    default = None if one.default is REQUIRED else one.default
    if one.kind == "choice":
        return st.selectbox(one.title, one.choices, index=one.choices.index(default), key=key, help=one.help or None)
    if one.kind == "flag":
        return st.toggle(one.title, value=bool(default), key=key, help=one.help or None)
    if one.kind == "count":
        return st.number_input(one.title, value=default, step=1, key=key, help=one.help or None)
    if one.kind == "number":
        return st.number_input(one.title, value=default, format="%g", key=key, help=one.help or None)
    shown = measured if measured is not None else ", ".join(map(str, default or ()))
    if one.kind == "texts":
        return st.text_area(one.title, value=shown, key=key, help=one.help or None)
    return st.text_input(one.title, value=shown, key=key, help=one.help or "Several with commas between them")


def _parsed(kind: StepKind, values: Mapping[str, Any]) -> dict[str, Any]:
    """Lists out of what was typed; what is empty is left to the default."""
    found: dict[str, Any] = {}
    for one in kind.parameters:
        value = values[one.name]
        if one.kind in ("numbers", "counts") and isinstance(value, str):
            value = [part for part in value.replace(";", ",").replace(" ", ",").split(",") if part] or None
        elif one.kind == "texts" and isinstance(value, str):
            value = [line.strip() for line in value.splitlines() if line.strip()] or None
        if value is not None:
            found[one.name] = value
    return found
