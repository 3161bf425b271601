"""The part of the page about monitors: the chosen one, a run on new data, its history, and how a schedule runs it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard import cards, escape, figures, panel, progress, render, rerun, session, words
from dashboard.deployment import drift_jobs, drift_kept, drift_parts, drift_sides, monitor_figures
from dashboard.session import View
from stethoscope.codec import partial_of
from stethoscope.drift.report import DriftReport
from stethoscope.errors import NotFound, StethoscopeError
from stethoscope.jobs.protocol import JobState
from stethoscope.studies.kept_monitor import KeptMonitor
from stethoscope.studies.monitor import Monitor, MonitorRun
from stethoscope.types import Architecture

_NEW = "new"
"""The data of today for a monitor, in the address."""
_MOST_RUNS = 100
_RUNS = "monitor-runs"
_CRON = "0 6 * * *"


def draw(view: View, architecture: Architecture | None, found: Sequence[KeptMonitor]) -> None:
    """The monitor to look at.

    Args:
        view: who looks, at which model.
        architecture: of the model in view, if it can be run.
        found: the monitors there are.
    """
    drift_kept.undo_line(view)
    if not found:
        render.empty(
            "**No monitor yet.** Compare two sets of data, then choose *Save as monitor* beside the answer: the same comparison can then be "
            "run again and again on new data, here or by a schedule."
        )
        return
    titles = {one.id: escape.clip(one.name, 60) for one in found}
    key = drift_kept.MONITOR
    chosen = found[-1].id
    if len(found) > 1:
        if st.session_state.get(key) not in titles:
            asked = session.recalled(key)
            st.session_state[key] = asked if asked in titles else chosen
        chosen = st.selectbox("Monitor", list(titles), format_func=lambda one: titles.get(one, one), key=key)
    session.remember(key, chosen)
    kept = next(one for one in found if one.id == chosen)
    try:
        monitor = kept.monitor()
    except StethoscopeError as error:
        st.error(escape.sentences(error))
        _delete(kept, view)
        return
    with st.container(border=True):
        _card(kept, monitor, view, architecture)
    state = drift_jobs.shown(view, of_monitor=kept.id)
    if state is not None and state.done:
        st.subheader(f"The answer for {escape.markdown(_current(state), 60)}", anchor=False)
        drift_parts.answer(state, view)


def _current(state: JobState) -> str:
    report = None if state.result is None else partial_of(state.result, DriftReport)
    return "the last run" if report is None else report.rows.current.name


def _card(kept: KeptMonitor, monitor: Monitor, view: View, architecture: Architecture | None) -> None:
    runs = kept.history()[-_MOST_RUNS:]
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(f"### {escape.markdown(kept.name, 80)}", width="content")
        _delete(kept, view)
    render.verdict(*last(runs))
    mine = kept.owner == view.owner
    cards.facts(_facts(monitor, mine=mine))
    if mine:
        _run(kept, monitor, view, architecture)
    else:
        st.caption("Its owner runs it; whoever has the link sees what it found.")
    _under_way(kept, view)
    _history(runs, monitor)
    if mine:
        _schedule(kept, monitor)


def last(runs: Sequence[MonitorRun]) -> tuple[render.Tone, str, str]:
    """(tone, badge, sentence) of the newest run."""
    if not runs:
        return "plain", "Not run yet", "Choose data of today below"
    one = runs[-1]
    when = f"{monitor_figures.short_time(one.time)} UTC"
    said = escape.markdown(words.readable(one.sentence), 300)
    if one.status != "ok":
        return "careful", "Did not run", f"{when}: {said}"
    return ("bad", "Drift", f"{when}: {said}") if one.drifted else ("good", "No drift found", f"{when}: {said}")


def _facts(monitor: Monitor, *, mine: bool) -> list[tuple[str, str, str]]:
    asked = monitor.settings
    counts = f"PSI from {words.given(asked.min_effect)}" if asked.min_effect else "any size counts"
    found = [
        ("Compares with", escape.code(monitor.reference.name, 40), "its own copy"),
        ("Alarm", f"p ≤ {words.given(asked.alpha)}, corrected", counts),
    ]
    if monitor.model is not None:
        layer = f"layer {escape.code(asked.layer, 30)}" if asked.layer else "predictions and a layer"
        found.append(("Model", escape.code(monitor.model.name, 40), layer))
    if monitor.webhook and mine:  # it may hold a secret
        found.append(("Webhook", escape.code(monitor.webhook, 50), "drift that the command finds is posted there"))
    return found


def _run(kept: KeptMonitor, monitor: Monitor, view: View, architecture: Architecture | None) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        with st.container(width="stretch"):
            chosen = drift_sides.pick(view, _NEW, "Data of today", drift_sides.offered(view))
        current = drift_sides.entry_of(chosen, view) if chosen else None
        may = current is not None and (monitor.model is None or architecture is not None)
        asked = st.button("Run it", type="primary", key="run-monitor", disabled=not may)
    if asked:
        assert current is not None and chosen
        job_id = drift_jobs.begin(drift_jobs.job_of(monitor, kept.id, current, chosen, architecture), view)
        kept.begun(job_id, current.name)
        rerun.whole_page()
    if monitor.model is not None and architecture is None:
        st.caption("Its model cannot be run here at the moment.")


def _under_way(kept: KeptMonitor, view: View) -> None:
    waiting = kept.under_way()
    if not waiting:
        return

    states = {job_id: state for job_id in waiting if (state := progress.find(job_id)) is not None}
    if len(states) < len(waiting) or any(state.done for state in states.values()):
        rerun.whole_page()
    panel.watch(states, waiting, view, len(states))


def _history(runs: Sequence[MonitorRun], monitor: Monitor) -> None:
    if not runs:
        return
    st.markdown("**History**")
    asked = monitor.settings
    grid = st.grid(2, min_column_width=340, gap=("small", "medium"))
    pictures = [
        (
            "drift-runs-p",
            monitor_figures.runs_p(runs, asked.alpha),
            "Smallest corrected p-value of each run, against the alarm",
        ),
        (
            "drift-runs-psi",
            monitor_figures.runs_effect(runs, asked.min_effect),
            "Largest PSI of each run, against what counts",
        ),
    ]
    if any(one.accuracy is not None for one in runs):
        pictures.append(("drift-runs-accuracy", monitor_figures.runs_accuracy(runs), "Accuracy of each run"))
    for key, figure, alt in pictures:
        with grid.cell():
            st.plotly_chart(figure, config=figures.CONFIG, key=key, alt=alt)
    alarms = sum(one.drifted for one in runs)
    failed = sum(one.status != "ok" for one in runs)
    gaps = f"; {words.plural(failed, 'run')} did not come to an answer (a cross, and a gap)" if failed else ""
    st.caption(f"{words.plural(len(runs), 'run')}, {words.plural(alarms, 'alarm')} (a red diamond){gaps}.")
    ids = [one.job for one in reversed(runs)]

    def clicked() -> None:
        rows = st.session_state[_RUNS]["selection"]["rows"]
        if rows and rows[0] < len(ids) and progress.find(ids[rows[0]]) is not None:
            session.remember("job", ids[rows[0]])

    with st.expander("All runs"):
        st.dataframe(
            table(runs),
            hide_index=True,
            height="content" if len(runs) <= 8 else 330,
            key=_RUNS,
            on_select=clicked,
            selection_mode="single-row",
            placeholder="—",
            column_config={
                name: st.column_config.NumberColumn(format="%.2g") for name in ("Smallest p", "Largest PSI")
            },
        )
        st.caption("Choose a row to see its whole answer below, if it was run here and is still kept.")


def table(runs: Sequence[MonitorRun]) -> dict[str, list[Any]]:
    """One row for each run, the newest first."""
    rows = list(reversed(runs))
    return {
        "Ended (UTC)": [one.time[:16].replace("T", " ") for one in rows],
        "Current data": [escape.clip(one.current, 60) for one in rows],
        "Answer": [one.in_words for one in rows],
        "Smallest p": [one.p_value for one in rows],
        "Largest PSI": [one.psi for one in rows],
        "Worst feature": [escape.clip(one.worst or "—", 60) for one in rows],
        "Rows": [one.n_current for one in rows],
        "What was found": [escape.clip(words.readable(one.sentence), 300) for one in rows],
    }


def _schedule(kept: KeptMonitor, monitor: Monitor) -> None:
    with st.expander("Run it by a schedule"):
        said = command(kept, monitor)
        st.markdown(
            "On this server, with the path of the new data in place of the last word. It writes its run into the history above"
            + (" and posts drift to the webhook." if monitor.webhook else ".")
        )
        st.code(said, language="bash", wrap_lines=True)
        st.markdown(
            f"Every morning at six, as a line of `crontab -e` ({escape.code(_CRON)}: minute, hour, day, month, weekday):"
        )
        st.code(f"{_CRON} {said.replace('%', chr(92) + '%')}", language="bash", wrap_lines=True)
        st.markdown(
            "It ends with **0** where nothing drifted, **1** where something did, **2** where it could not run, **3** where a file is refused. "
            "A scheduler that tells failures by exit codes thus tells drift."
        )


def command(kept: KeptMonitor, monitor: Monitor) -> str:
    """The command that runs it, with whole paths: a schedule has no search path."""
    beside = Path(sys.executable).with_name("stethoscope")
    program = [str(beside)] if beside.exists() else [sys.executable, "-m", "stethoscope.cli.app"]
    return shlex.join(
        [*program, "drift", "--monitor", str(kept.path.resolve()), f"/path/to/today{monitor.reference.suffix}"]
    )


def _delete(kept: KeptMonitor, view: View) -> None:
    def gone() -> None:
        try:
            drift_kept.delete(kept, view.owner)
        except NotFound:
            session.remember(drift_kept.MONITOR, None)

    if kept.owner == view.owner:
        st.button("Delete", key=f"delete-{kept.id}", on_click=gone)
