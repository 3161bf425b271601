"""What a training script says: a verdict, its findings with lines and patches, and the patched copy."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from dashboard import analysis, escape, panel, progress, recipes, render, rerun, words
from dashboard.behaviour import finding_cards
from dashboard.session import View
from stethoscope.checks.findings import Severity
from stethoscope.checks.fixes.script_patch import ScriptPatch
from stethoscope.codec import partial_of
from stethoscope.jobs import engine
from stethoscope.jobs.protocol import JobState
from stethoscope.jobs.store import Entry
from stethoscope.pasted.scripts.review import Seen
from stethoscope.studies.diagnosis.report import Report
from stethoscope.studies.diagnosis.run import DIAGNOSIS
from stethoscope.studies.diagnosis.with_script import job, of_script, with_script
from stethoscope.studies.study import studies
from stethoscope.tasks.read_script import PATCHED, ScriptReport
from stethoscope.types import JobResult, Status


def reading(entry: Entry, *, again: bool = False) -> JobState:
    """The job that reads a script: the last good one, else a new one."""
    if not again:
        found = analysis.last(entry, "read_script")
        under_way = [state for state in engine().jobs(entry_id=entry.id, active=True) if state.kind == "read_script"]
        if found is not None or under_way:
            return found or under_way[0]
    return engine().state(engine().submit(job(entry.file), owner=entry.owner, entry_id=entry.id, fresh=again))


def show(view: View, entry: Entry) -> None:
    """The answer about a script, once it is there; together with the last diagnosis of the model in view."""
    state = reading(entry)
    if not state.done or state.result is None:
        progress.watch(state, subject=entry.name, may_cancel=panel.may_cancel(state, view))
        st.skeleton(height=220)
        return
    said = partial_of(state.result, ScriptReport) if state.result.status is Status.OK else None
    if said is None:
        render.ending(state)
        if render.may_end_otherwise(state.result) and st.button("Read it again", key="read-script-again"):
            reading(entry, again=True)
            rerun.whole_page()
        return
    diagnosis = _diagnosis(view)
    report = (
        of_script(entry.name, state.result) if diagnosis is None else with_script(diagnosis, entry.name, state.result)
    )
    _verdict(report, said)
    if diagnosis is not None and view.entry is not None:
        st.caption(f"Together with the last diagnosis of {escape.code(view.entry.name)}: one card for each cause.")
    _download(entry, state.result, report)
    for note in said.seen.left_out:
        st.caption(escape.sentences(note))
    finding_cards.show(report.findings, None, f"script-{entry.id}")
    with st.expander("How this was done"):
        _how(entry, said.seen, report)


def merged(report: Report, entry: Entry | None) -> Report:
    """A diagnosis with what the script in view says in it, if that has been read."""
    state = None if entry is None else analysis.last(entry, "read_script")
    if entry is None or state is None or state.result is None:
        return report
    return with_script(report, entry.name, state.result)


def _diagnosis(view: View) -> Report | None:
    study = None if view.entry is None else studies().latest(DIAGNOSIS, view.entry.id)
    return study.report if study is not None and study.done and study.report.status is Status.OK else None


def _verdict(report: Report, said: ScriptReport) -> None:
    worst = max((finding.severity for finding in report.findings), default=None)
    counts = ", ".join(f"{count} {label}" for label, count in report.counts().items())
    read = f"{words.plural(said.seen.lines, 'line')} read, held against {words.plural(len(said.outcomes), 'rule')}."
    if not said.seen.keras:
        render.verdict("careful", "No TensorFlow here", f"It imports neither TensorFlow nor Keras. {read}")
    elif worst is None:
        render.verdict("good", "Nothing found", f"No rule found a fault. {read}")
    else:
        tone: render.Tone = "bad" if worst >= Severity.HIGH else "careful" if worst >= Severity.MEDIUM else "good"
        render.verdict(tone, counts.capitalize(), read)


def _download(entry: Entry, result: JobResult, report: Report) -> None:
    path = result.files.get(PATCHED)
    patches = sum(1 for one in report.findings if isinstance(one.fix, ScriptPatch) and one.fix.edits)
    if path is None or not path.is_file():
        return
    name = Path(entry.name)
    st.download_button(
        f"Download with {words.plural(patches, 'patch', 'patches')} made",
        path.read_bytes,
        f"{name.stem}.patched{name.suffix or '.py'}",
        "text/x-python",
        key=f"patched-{entry.id}",
        on_click="ignore",
    )


def _how(entry: Entry, seen: Seen, report: Report) -> None:
    st.markdown(
        f"Read as text: {words.plural(seen.lines, 'line')}, {words.plural(seen.calls, 'call')}, "
        f"{words.plural(len(seen.models), 'model')}. Nothing of it was run or imported."
    )
    if seen.legacy:
        st.markdown(escape.sentences(f"Names that Keras 3 does not have are left alone: {seen.legacy}."))
    for model in seen.models[:12]:
        st.markdown(f"- {escape.markdown(model, 120)}")
    broken = [one for one in report.outcomes if one.status is Status.FAILED]
    for outcome in broken:
        st.caption(escape.sentences(f"{outcome.check_id}: {outcome.reason}"))
    st.markdown("The same from the command line:")
    st.code(recipes.command_line("check", entry.name, {}), language="bash", wrap_lines=True)
