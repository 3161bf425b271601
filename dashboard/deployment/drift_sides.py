"""The two sides of a comparison: data of then and data of today, from what is here, uploaded, or one log that is divided by time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from dashboard import escape, rerun, session, upload_view, words
from dashboard.data import chosen_data, data_choice, data_use
from dashboard.data.data_use import DataUse
from dashboard.session import View
from stethoscope.errors import NotFound
from stethoscope.jobs.protocol import JobState
from stethoscope.jobs.store import Entry, store
from stethoscope.types import UploadKind

REFERENCE, CURRENT = "reference", "current"
"""The two sides in the address."""
SPLIT = "divided"
"""What the address says instead of current data where the reference is a log that is divided by its moments."""
_MOST_OFFERED = 30
_PENDING = "_drift-arrived"
_PAIR, _LOG = ("sample-digits-before", "sample-digits-brighter"), "sample-predictions-log"
_PAIR_MODEL = "sample-digits-cnn"


@dataclass(frozen=True)
class Sides:
    """What is compared with what."""

    reference: DataUse
    """With the steps that prepare the rows of both sides for a model."""
    reference_id: str
    current: Entry | None
    """None: the reference is divided by time."""
    current_id: str


def choose(view: View, answered: JobState | None) -> Sides | None:
    """Draws both choices; returns them once they are complete.

    Args:
        view: who looks, at which model.
        answered: the comparison that is shown; its sides are chosen where nothing else is.
    """
    params = {} if answered is None else answered.params
    known = offered(view)
    row = st.grid(2, min_column_width=340)
    with row.cell():
        first = pick(view, REFERENCE, "Reference: as it was", known, str(params.get("reference_id") or ""))
    with row.cell():
        more = {} if first is None else {SPLIT: "The same log, divided by its moments"}
        asked = str(params.get("current_id") or "")
        second = pick(view, CURRENT, "Current: what came since", known, asked, more=more, without=first or "")
    if first is None or second is None:
        return None
    reference, current = entry_of(first, view), None if second == SPLIT else entry_of(second, view)
    if reference is None or (current is None and second != SPLIT):
        return None
    prepared = session.data_in_view() in (first, second)
    use = data_use.of_view(reference) if prepared else data_use.plain(reference)
    return Sides(use, first, current, second)


def pick(
    view: View,
    role: str,
    label: str,
    known: Mapping[str, str],
    asked: str = "",
    *,
    more: Mapping[str, str] | None = None,
    without: str = "",
) -> str | None:
    """One choice of data, which stands in the address under `role`, with a place to upload it.

    Args:
        view: who looks.
        role: in the address; also of the widget.
        label: above the box.
        known: what is offered, as `offered` gives it.
        asked: chosen where neither the address nor this tab says anything.
        more: choices that are no data, by what the address says for them.
        without: what is not offered.
    """
    key, tab = f"drift-{role}", f"_drift-{role}"
    arrived = st.session_state.pop(f"{_PENDING}-{role}", None)
    wanted = arrived or session.recalled(role) or st.session_state.get(key) or st.session_state.get(tab) or asked
    titles = {one: title for one, title in known.items() if one != without} | dict(more or {})
    if wanted and wanted not in titles and wanted != without:
        linked = entry_of(wanted, view)
        if linked is not None:
            titles = {wanted: _title(linked), **titles}
        elif wanted != SPLIT:
            st.warning("The data in this link is not here: its owner removed it, or it expired. Choose other data.")
    if arrived or st.session_state.get(key) not in titles:
        st.session_state[key] = wanted if wanted in titles else None
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        chosen = st.selectbox(
            label,
            list(titles),
            index=None,
            format_func=lambda one: titles.get(one, one),
            key=key,
            placeholder="Choose data",
        )
        upload = st.popover("Upload", width="content", key=f"drift-popover-{role}")
    with upload:
        uploaded = upload_view.show(
            key=f"drift-upload-{role}",
            title="Drop data here",
            hint=data_choice.KINDS,
            together=True,
            expected=UploadKind.DATA,
        )
    before = f"{_PENDING}-{role}-before"
    if uploaded and st.session_state.get(before) != uploaded:
        st.session_state[before] = uploaded
        st.session_state[f"{_PENDING}-{role}"] = uploaded[0]
        rerun.whole_page()
    st.session_state[tab] = chosen
    session.remember(role, chosen)
    return chosen


def offered(view: View) -> dict[str, str]:
    """Data to choose from, by id: what comes with the model, the viewer's own, and the sets to try."""
    own = None if view.entry is None else chosen_data.with_model(view.entry)
    found = {} if own is None else {session.WITH_MODEL: f"{escape.clip(own.name, 60)} · comes with the model"}
    mine = session.recent_data(view.owner)
    names = [one.name for one in mine]
    for one in mine[:_MOST_OFFERED]:
        when = f" · {words.ago(one.created.timestamp())}" if names.count(one.name) > 1 else ""
        found[one.id] = _title(one) + when
    return found | {one.id: f"{_title(one)} · to try" for one in session.sample_data_sets()}


def entry_of(data_id: str, view: View) -> Entry | None:
    """The data with this id, for whoever has it; None where it is gone."""
    if data_id == session.WITH_MODEL:
        return None if view.entry is None else chosen_data.with_model(view.entry)
    try:
        return store().get(data_id)
    except NotFound:
        return None


def invitation() -> None:
    """What goes here, and two pairs to try."""
    pair, log = [_sample(one) for one in _PAIR], _sample(_LOG)
    with st.container(border=True):
        st.markdown(
            "**Choose data of then and data of today**, above: tables, arrays, images, texts, or a log of predictions with its moments. "
            "You see which features have changed and by how much, whether the rows as wholes have, and how small a change so few rows "
            "could show at all."
        )
        with st.container(horizontal=True, gap="small"):
            if all(pair):
                model = _PAIR_MODEL if _sample(_PAIR_MODEL) else None
                st.button(
                    "Try it on digits, half of them brighter", key="drift-try-pair", on_click=_try, args=(*_PAIR, model)
                )
            if log:
                st.button(
                    "Try it on a log of predictions", key="drift-try-log", on_click=_try, args=(_LOG, SPLIT, None)
                )


def _try(reference: str, current: str, model: str | None) -> None:
    if model is not None and session.recalled("model") is None:
        session.choose(model)
    for role, chosen in ((REFERENCE, reference), (CURRENT, current)):
        st.session_state[f"drift-{role}"] = chosen
        session.remember(role, chosen)


def _title(entry: Entry) -> str:
    return escape.clip(entry.title or entry.name, 60)


def _sample(entry_id: str) -> Entry | None:
    try:
        return store().get(entry_id)
    except NotFound:
        return None
