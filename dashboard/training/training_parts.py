"""The Training page's views: curves with what was found marked in them, and the findings as cards."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard import escape, fragments, progress, render, session, words
from dashboard.behaviour import finding_cards
from dashboard.kept_answers import kept
from dashboard.training import curves_view, followed, log_choice
from dashboard.training.log_choice import LogView
from stethoscope.checks.findings import Finding, Severity
from stethoscope.codec import partial_of
from stethoscope.jobs.protocol import JobState
from stethoscope.tasks.examine_runs import LogReport
from stethoscope.types import JobResult, Status

KIND = "examine_runs"
REFRESH_S = 1.0
JUDGE_EVERY_S = 45.0
"""Seconds between two judgements of a log that is being written."""
_MOST_GROUPS = 30
_NAMED = 3
_MARKED = Severity.MEDIUM


def examined(log: LogView) -> JobState | None:
    """The job that judges the log; started with the first look, None while nothing of a followed folder has been read."""
    if log.live and not log.index.get("revision"):
        return None
    return log_choice.judged(KIND, log, JUDGE_EVERY_S)


def _report(state: JobState | None) -> LogReport | None:
    """What a finished job answered."""
    if state is None or state.result is None or state.result.status is not Status.OK:
        return None
    return _decoded(state.result)


@kept
def _decoded(result: JobResult) -> LogReport | None:
    return partial_of(result, LogReport)


def marks(findings: Sequence[Finding]) -> list[curves_view.Mark]:
    """Where findings show in the charts; remarks stay among the findings."""
    return [
        curves_view.Mark(span.run, span.tag, span.at, span.until, finding.title or span.label, finding.severity.label)
        for finding in findings
        if finding.severity >= _MARKED
        for span in finding.marks
    ]


def curves(log: LogView, state: JobState | None) -> None:
    """The charts; what was found is named above them."""
    report = _report(state)
    findings = () if report is None else report.findings
    if state is not None:
        _line(state, report)
    if log.live and (state is None or state.done):
        _look_again(log, REFRESH_S if state is None else JUDGE_EVERY_S)

    @fragments.part()
    def charts() -> None:
        now = curves_view.show(
            log.job_id, view=session.recalled("view") or "", marks=marks(findings), key=f"curves-{log.job_id}"
        )
        session.remember("view", now or None)

    charts()


def _look_again(log: LogView, every_s: float) -> None:
    """Runs the page once more when something was added, so that it is judged."""
    fragments.moving(
        log.index.get("revision"), lambda: followed.opened(log.job_id, look=False).revision, every_s=every_s
    )


def _line(state: JobState, report: LogReport | None) -> None:
    if not state.done:
        looking = "Looking at every point of every curve for faults"
        progress.until_done(state, lambda now: st.caption(looking), every_s=REFRESH_S)
        return
    if report is None:
        reason = "" if state.result is None else state.result.reason
        st.caption(f"The curves could not be judged: {escape.sentences(reason)}")
        return
    grave = [finding for finding in report.findings if finding.severity >= _MARKED]
    if not grave:
        st.caption(f"No fault was found in these curves. {_looked(report)}")
    else:
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.badge(
                words.plural(len(grave), "finding"), color="red" if grave[0].severity >= Severity.HIGH else "orange"
            )
            st.markdown(_named(grave), width="content")


def _named(findings: Sequence[Finding]) -> str:
    """The findings by title, the gravest first, with the run or how many there are."""
    runs: dict[str, list[str]] = {}
    for finding in findings:
        runs.setdefault(finding.title, []).append(finding.run)
    parts = []
    for title, where in list(runs.items())[:_NAMED]:
        named = list(dict.fromkeys(run for run in where if run))
        note = (
            "" if not named else escape.markdown(named[0], 40) if len(named) == 1 else words.plural(len(named), "run")
        )
        parts.append(escape.markdown(title, 70) + (f" ({note})" if note else ""))
    more = f" · and {len(runs) - _NAMED} more" if len(runs) > _NAMED else ""
    return " · ".join(parts) + more


def _looked(report: LogReport) -> str:
    ran = [outcome for outcome in report.outcomes if outcome.status is Status.OK]
    return f"{words.plural(len(ran), 'check')} looked at all points of {words.plural(report.examined, 'run')}."


def findings(log: LogView, state: JobState | None) -> None:
    """Everything that was found, run by run."""
    if state is None:
        st.caption("The folder is still being read.")
        _look_again(log, REFRESH_S)
        return
    if not state.done:
        progress.watch(state, subject=log.title, may_cancel=True)
        return
    report = _report(state)
    if report is None:
        render.ending(state)
        return
    if report.left_out:
        st.info(escape.sentences(report.left_out))
    if not report.findings:
        render.verdict("good", "Nothing found", _looked(report))
        return
    st.caption(_looked(report))
    runs = list(dict.fromkeys(finding.run for finding in report.findings))
    chosen = _narrowed(runs)
    for place, run in enumerate(chosen[:_MOST_GROUPS]):
        mine = tuple(finding for finding in report.findings if finding.run == run)
        st.markdown(f"**{escape.markdown(run, 80) if run else 'Across runs'}**")
        finding_cards.show(mine, None, f"log-{log.job_id}-{place}")
    if len(chosen) > _MOST_GROUPS:
        st.caption(f"And {len(chosen) - _MOST_GROUPS:,} more runs with findings; choose runs above to see theirs.")


def _narrowed(runs: list[str]) -> list[str]:
    if len(runs) < 4:
        return runs
    picked = st.multiselect(
        "Runs",
        runs,
        format_func=lambda run: escape.clip(run or "Across runs", 60),
        placeholder="All runs with findings",
        key="finding-runs",
        label_visibility="collapsed",
    )
    return picked or runs
