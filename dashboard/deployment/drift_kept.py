"""The monitors of the model in view: where they are, saving one from an answer, and taking one back that was deleted."""

from __future__ import annotations

import streamlit as st

from dashboard import escape, progress, rerun, session
from dashboard.deployment import drift_jobs, drift_sides
from dashboard.session import View
from stethoscope.drift.settings import DriftSettings
from stethoscope.errors import NotFound, StethoscopeError
from stethoscope.jobs.protocol import JobState
from stethoscope.jobs.store import store
from stethoscope.settings import settings
from stethoscope.studies.kept_monitor import KeptMonitor
from stethoscope.studies.kept_monitors import LONGEST_NAME, WITHOUT_MODEL, KeptMonitors
from stethoscope.studies.monitor import checked_url

PART, MONITORS, COMPARE = "part", "monitors", "compare"
"""Which part of the page is shown, in the address."""
MONITOR = "monitor"
"""The monitor that is looked at, in the address."""
_UNDO, _GONE = "_drift-undo", "_drift-gone"
_JOB = ("data_options", "preparation", "trusted")


def shelf() -> KeptMonitors:
    """The monitors of this workspace."""
    return KeptMonitors(settings().workspace / "monitors", store())


def of_view(view: View) -> list[KeptMonitor]:
    """The viewer's own monitors of the model in view (without one, those without a model), and the one that the address names."""
    subject = _subject(view)
    found = shelf().of(subject, view.owner)
    asked = session.recalled(MONITOR)
    if asked and asked not in [one.id for one in found]:
        try:
            found.append(shelf().get(subject, asked))
        except NotFound as error:
            session.remember(MONITOR, None)
            if not st.session_state.get(_UNDO):
                st.warning(escape.sentences(error))
    for one in found:
        one.settle(progress.find)
    return found


def save_from(state: JobState, view: View) -> None:
    """A place to keep what an answer was asked, to run it again on other data."""
    with st.popover("Save as monitor", width="content"), st.form("save-monitor", border=False):
        st.caption(
            f"Keeps the reference{', the model' if state.params.get('with_model') else ''} and the settings, to be run again on new data: here, "
            "or by a schedule on this server."
            + (" New data will be compared with the whole log." if drift_jobs.split(state) else "")
        )
        name = st.text_input("Name", key="monitor-name", max_chars=LONGEST_NAME, placeholder="Scanner at the harbour")
        webhook = st.text_input(
            "Webhook",
            key="monitor-webhook",
            placeholder="none, or https://host/path",
            help="Drift that the command finds is posted there as JSON. Runs on this page post nothing: you see the answer.",
        )
        if st.form_submit_button("Save", type="primary", key="save-monitor-now"):
            _save(state, view, name, webhook)


def _save(state: JobState, view: View, name: str, webhook: str) -> None:
    reference_id = str(state.params.get("reference_id") or "")
    reference = drift_sides.entry_of(reference_id, view)
    if reference is None:
        st.error("The reference of this comparison is not here any more. Choose it again, compare, and save then.")
        return
    model = view.entry if view.entry is not None and state.params.get("with_model") else None
    try:
        made = shelf().save(
            _subject(view),
            view.owner,
            name,
            reference,
            model,
            DriftSettings.from_json(state.params),
            checked_url(webhook.strip()),
            {key: state.params[key] for key in _JOB if state.params.get(key)},
        )
    except StethoscopeError as error:
        st.error(escape.sentences(error))
        return
    look_at(made.id)
    rerun.whole_page()


def _subject(view: View) -> str:
    return WITHOUT_MODEL if view.entry is None else view.entry.id


def look_at(monitor_id: str) -> None:
    """Shows a monitor on the other part of the page."""
    for key, value in ((PART, MONITORS), (MONITOR, monitor_id)):
        st.session_state[f"_next-{key}"] = value
        session.remember(key, value)


def take_next() -> None:
    """What was chosen for controls that were already drawn, before they are drawn again."""
    for key in (PART, MONITOR):
        chosen = st.session_state.pop(f"_next-{key}", None)
        if chosen is not None:
            st.session_state[key] = chosen


def delete(kept: KeptMonitor, owner: str) -> None:
    """Takes a monitor away; the page offers to bring it back."""
    shelf().remove(kept.subject, kept.id, owner)
    st.session_state[_UNDO] = (kept.subject, kept.id, kept.name)
    session.remember(MONITOR, None)


def undo_line(view: View) -> None:
    """Says what was deleted, with a button that brings it back."""
    gone = st.session_state.pop(_GONE, None)
    if gone:
        st.warning(f"**{escape.markdown(gone, 80)}** cannot be brought back any more. Compare again, and save that.")
    found = st.session_state.get(_UNDO)
    if not found:
        return
    subject, monitor_id, name = found

    def bring_back() -> None:
        st.session_state.pop(_UNDO, None)
        try:
            shelf().restore(subject, monitor_id, view.owner)
        except NotFound:
            st.session_state[_GONE] = name
            return
        look_at(monitor_id)

    said, button = st.columns([5, 1], vertical_alignment="center")
    said.info(f"**{escape.markdown(name, 80)}** was deleted, with its history.")
    button.button("Undo", key="monitor-undo", on_click=bring_back, width="stretch")
