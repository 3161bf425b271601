"""The one way to choose data for a run: none, what comes with a sample model, or the viewer's own, with its preparation in a line."""

from __future__ import annotations

import streamlit as st

from dashboard import escape, render, rerun, session, upload_view, words
from dashboard.data import chosen_data, data_use
from dashboard.data.data_use import DataUse
from dashboard.session import View
from stethoscope.errors import NotFound
from stethoscope.jobs.store import Entry
from stethoscope.types import Architecture, JobResult, UploadKind

SAMPLE, OWN = "Sample data", "Your data"
KINDS = (
    "Tables (.csv, .parquet), arrays (.npz, .npy), images in folders, COCO, YOLO, Pascal VOC, TFRecord, text or JSON lines, WAV; "
    "folders and archives too. It stays on this server."
)
_MOST_OFFERED = 20


def choose(
    view: View,
    architecture: Architecture,
    *,
    none: str,
    key: str,
    label: str = "Data",
    lead: str = "",
    prefer_sample: bool = False,
    in_address: bool = False,
) -> tuple[DataUse | None, bool]:
    """Draws the choice.

    Args:
        view: with a model.
        architecture: of that model.
        none: what going without data is called ("Random input", "No data").
        key: of the control; also its name in the address where `in_address`.
        label: above the control.
        lead: said where no data is chosen.
        prefer_sample: whether a sample model's own data is chosen at first.
        in_address: whether the kind of choice itself stands in the address.

    Returns:
        The data (None to go without) and whether the choice is complete.
    """
    assert view.entry is not None
    sample = chosen_data.with_model(view.entry)
    in_view = session.data_in_view()
    options = [none, *([SAMPLE] if sample else []), OWN]
    if in_view == session.WITH_MODEL:
        default = SAMPLE if sample else none
    else:
        default = OWN if in_view else SAMPLE if sample and prefer_sample else none
    picked = st.segmented_control(
        label, options, default=default, key=key, required=True, bind="query-params" if in_address else None
    )
    if picked == SAMPLE and sample is not None:
        use = data_use.of_view(sample) if in_view == session.WITH_MODEL else data_use.plain(sample)
        st.caption(f"{escape.code(sample.name)} comes with this sample model.")
        _preparation_line(use, session.WITH_MODEL)
        return use, True
    if picked == OWN:
        own = _own(view, architecture)
        return own, own is not None
    if lead:
        st.caption(lead)
    return None, True


def _own(view: View, architecture: Architecture) -> DataUse | None:
    try:
        entry = None if session.data_in_view() == session.WITH_MODEL else chosen_data.current(view)
    except NotFound as error:
        st.warning(escape.sentences(error))
        session.choose_data(None)
        entry = None
    if entry is not None:
        name, other = st.columns([4, 1], vertical_alignment="center")
        name.markdown(f"{escape.code(entry.name)} · {words.size(entry.size_bytes)}")
        other.button("Other data", key="other-data", on_click=session.choose_data, args=(None,), width="stretch")
        use = data_use.of_view(entry)
        _preparation_line(use, entry.id)
        return use
    _expected(architecture)
    _offer([*session.recent_data(view.owner)[:_MOST_OFFERED], *session.sample_data_sets()])
    uploaded = upload_view.show(key="data-upload", title="Drop your data here", hint=KINDS, expected=UploadKind.DATA)
    if uploaded and st.session_state.get("_data_arrived") != uploaded:
        st.session_state["_data_arrived"] = uploaded
        session.choose_data(uploaded[0])
        rerun.whole_page()
    return None


def _expected(architecture: Architecture) -> None:
    names = ", ".join(f"{escape.code(spec.name)} {words.shape(spec.shape)}" for spec in architecture.inputs[:6])
    arrays = "one array named x" if len(architecture.inputs) == 1 else "one array per input"
    st.caption(f"The model takes {names}. In an .npz: {arrays}, and the labels as y.")


def _offer(entries: list[Entry]) -> None:
    """A choice among earlier uploads and the sets to try."""
    if not entries:
        return
    names = {
        entry.id: f"{escape.clip(entry.title or entry.name, 60)}{' · to try' if entry.sample else ''}"
        for entry in entries
    }
    st.selectbox(
        "Uploaded before",
        list(names),
        index=None,
        format_func=names.__getitem__,
        key="earlier-data",
        placeholder="Choose data uploaded before, or a set to try",
        on_change=_use_earlier,
        label_visibility="collapsed",
    )


def _use_earlier() -> None:
    session.choose_data(st.session_state.get("earlier-data"))


def _preparation_line(use: DataUse, data_id: str) -> None:
    """The steps in one line, and where to change them."""
    steps = use.preparation.words()
    text = f"{words.plural(len(steps), 'step')}: {', '.join(steps)}" if steps else "Fed as it is"
    labels = f" · labels: {use.target}" if use.target else ""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(escape.markdown(text + labels, 300), width="content")
        label = "Change" if steps else "Prepare it"
        render.go_to("data", label, width="content", data=data_id, tab="fit", **_address())


def make_it_fit(result: JobResult) -> None:
    """After a run that the model did not take the data of: the way to the page that says what to change, and changes it."""
    if result.error == "BadInput":
        data_id = session.data_in_view() or session.WITH_MODEL
        render.go_to("data", "Make the data fit the model", width="content", data=data_id, tab="fit", **_address())


def _address() -> dict[str, str]:
    """What a link to the page Data has to carry so that the same steps are shown there."""
    kept = {name: session.recalled(name) for name in (data_use.PREPARATION, data_use.TARGET)}
    return {name: value for name, value in kept.items() if value}
