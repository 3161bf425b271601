"""The Overview page's parts: model tiles, the heading with rename and remove, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard import analysis, escape, navigation, removal, render, rerun, session, words
from dashboard.behaviour import consistency_parts
from dashboard.deployment import drift_kept
from dashboard.session import View
from stethoscope.checks.findings import Severity
from stethoscope.codec import answer_of, partial_of
from stethoscope.compare.consistency.report import ConsistencyReport
from stethoscope.compare.parity.comparison import Comparison
from stethoscope.jobs.store import Entry, store
from stethoscope.memory.prediction import Prediction
from stethoscope.studies.diagnosis.report import Report
from stethoscope.studies.diagnosis.run import DIAGNOSIS
from stethoscope.studies.study import studies
from stethoscope.types import Architecture, Status

_STEPS_IN_A_ROW = 4


def models(entries: Sequence[Entry], *, key: str) -> None:
    """A grid of models to open: name and one line each."""
    grid = st.grid(min_column_width=250, gap="small", border=True)
    for entry in entries:
        with grid.cell(), st.container(gap="xsmall", height="stretch", key=f"tile-{key}-{entry.id}"):
            with st.container(gap=None):
                name = entry.title or entry.name
                st.markdown(
                    f"**{escape.markdown(name, 60)}**", help=escape.markdown(name, 300) if len(name) > 60 else None
                )
                st.caption(_line(entry))
            st.button("Open", key=f"open-{key}-{entry.id}", on_click=session.choose, args=(entry.id,))


def samples(entries: Sequence[Entry], *, key: str, shown: int = 8) -> None:
    """The samples to try: a first few, the rest folded."""
    models(entries[:shown], key=key)
    if len(entries) > shown:
        with st.expander(f"{words.plural(len(entries) - shown, 'more sample')}"):
            models(entries[shown:], key=key)


def _line(entry: Entry) -> str:
    if entry.sample:
        return escape.markdown(entry.behaviour or entry.name, 160)
    return f"{words.size(entry.size_bytes)} · opened {words.ago(entry.last_used.timestamp())}"


def heading(view: View) -> None:
    """The model's name, and for its owner: rename and remove."""
    entry = view.entry
    assert entry is not None
    name, actions = st.columns([4, 1], vertical_alignment="center")
    with name:
        render.question("What is in this model?")
        st.markdown(f"{escape.code(entry.name)}" + (f" · {escape.markdown(entry.title)}" if entry.title else ""))
    with actions, st.container(horizontal=True, horizontal_alignment="right"):
        if view.mine:
            with st.popover("Manage"):
                _rename(view, entry)
                st.button("Remove…", key="remove", on_click=_ask_to_remove, args=(entry.id,), width="stretch")
        st.button("Close", key="close-model", on_click=session.forget, help="Back to upload and samples")
    if st.session_state.get("_ask_to_remove") == entry.id and view.mine:
        _confirm_removal(entry, view.owner)


def _rename(view: View, entry: Entry) -> None:
    with st.form("rename", border=False):
        name = st.text_input("Name", value=entry.name, max_chars=200)
        if st.form_submit_button("Rename", width="stretch") and name.strip() and name != entry.name:
            store().rename(entry.id, view.owner, name)
            rerun.whole_page()


def _ask_to_remove(entry_id: str | None = None) -> None:
    st.session_state["_ask_to_remove"] = entry_id


@st.dialog("Remove this model?", on_dismiss=_ask_to_remove)
def _confirm_removal(entry: Entry, owner: str) -> None:
    watching = len(drift_kept.shelf().going_with(entry))
    also = ""
    if watching:
        also = f" {words.plural(watching, 'drift monitor')} of it, with the data kept there, {'goes' if watching == 1 else 'go'} too."
    st.markdown(f"{escape.code(entry.name)} and links to it stop working for everyone.{also} This cannot be undone.")
    yes, no = st.columns(2)
    if yes.button("Remove", key="remove-yes", type="primary", width="stretch"):
        removal.remove(entry, owner)
        _ask_to_remove()
        session.forget()
        rerun.whole_page()
    if no.button("Keep it", key="remove-no", width="stretch"):
        _ask_to_remove()
        rerun.whole_page()


def health(view: View, architecture: Architecture) -> None:
    """The health line: what the last diagnosis found, and the button that starts one."""
    entry = view.entry
    assert entry is not None
    last = studies().latest(DIAGNOSIS, entry.id)
    with st.container(border=True):
        line, button = st.columns([4, 1], vertical_alignment="center")
        with line:
            if last is None:
                render.verdict("plain", "Not diagnosed", "Find out what is wrong with it, why, and what fixes it.")
                st.caption("Runs all that applies: architecture, weights, edge cases, your data, a short training run.")
            else:
                _last_diagnosis(last.report)
                render.go_to("diagnosis", "Open the diagnosis →", diagnosis=last.id)
        if button.button("Diagnose", type="primary", key="diagnose-now", width="stretch"):
            st.session_state["_run_now"] = True
            st.switch_page(next(page.path for page in navigation.page_files() if page.url_path == "diagnosis"))


def _last_diagnosis(report: Report) -> None:
    when = words.ago(report.created_s)
    if not report.done:
        render.verdict("plain", "Under way", f"Started {when}; {words.plural(len(report.findings), 'finding')} so far.")
        return
    counts = ", ".join(f"{count} {label}" for label, count in report.counts().items())
    worst = max((finding.severity for finding in report.findings), default=Severity.INFO)
    tone: render.Tone = "bad" if worst >= Severity.HIGH else "careful" if worst >= Severity.MEDIUM else "good"
    first = f" {escape.sentences(report.findings[0].title)}." if report.findings else ""
    render.verdict(tone, counts.capitalize() or "Nothing found", f"Diagnosed {when}.{first}")


def next_steps(entry: Entry, architecture: Architecture) -> None:
    """Tiles that lead to the other pages, each with what is known already, or what it would answer."""
    layers = words.plural(len(architecture.layers), "layer")
    steps = [
        ("architecture", "See its architecture", f"The graph with its {layers}, and a table beside it."),
        ("consistency", "Check its consistency", _consistency(entry)),
        (
            "overfit",
            "Test whether it can learn",
            "Whether a copy can learn a few samples by heart; if not, what blocks it.",
        ),
        ("prediction", "Run a prediction", _prediction(entry)),
        ("memory", "Find what fits", "The largest batch within a memory limit, and what lowers the peak."),
        (
            "convert",
            "Convert it",
            "To ONNX, TFLite, SavedModel or a frozen graph, run by its runtime before it counts.",
        ),
        ("parity", "Compare it with another", _parity(entry)),
        ("drift", "Watch its data", "Whether the data of today is still like the data of then."),
    ]
    grid = st.grid(_STEPS_IN_A_ROW, min_column_width=230, gap="small", border=True)
    for page, label, line in steps:
        with grid.cell(), st.container(gap="xsmall"):
            render.go_to(page, f"**{label}** →")
            st.caption(line)


def _consistency(entry: Entry) -> str:
    state = analysis.last(entry, "consistency")
    if state is None or state.result is None or state.result.status is not Status.OK:
        return "Whether the same input always gives the same output; if not, the first layer that differs."
    return f"Last run, {words.ago(state.finished_s or state.created_s)}: {consistency_parts.verdict(answer_of(state.result, ConsistencyReport))[2]}"


def _parity(entry: Entry) -> str:
    state = analysis.last(entry, "compare")
    if state is None or state.result is None or state.result.status is not Status.OK:
        return "Whether the file on the phone answers as this one does; if not, the first layer that parts, and why."
    said = escape.sentences(words.readable(answer_of(state.result, Comparison).sentence))
    return f"Last run, {words.ago(state.finished_s or state.created_s)}: {said}"


def _prediction(entry: Entry) -> str:
    state = analysis.last(entry, "predict")
    if state is None or state.result is None:
        return "On random or your own data, under a memory limit: output, peak memory and time."
    result, when = state.result, words.ago(state.finished_s or state.created_s)
    if result.status is Status.OUT_OF_MEMORY:
        return f"Last run, {when}: out of memory, stopped at {words.size(result.peak_rss_bytes)}."
    if result.status is not Status.OK:
        return f"Last run, {when}: it could not finish."
    known = partial_of(result, Prediction)
    each = words.duration(known.time_per_sample_s or 0.0) if known else "—"
    return f"Last run, {when}: peak memory {words.size(result.peak_rss_bytes)}, {each} per sample."
