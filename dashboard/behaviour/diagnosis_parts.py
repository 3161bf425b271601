"""The answer of a diagnosis: where it stands, what it found, what it could not look at, and how it compares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from dashboard import escape, figures, render, rerun, words
from dashboard.behaviour import baseline_figure, finding_cards
from stethoscope.checks import all_checks
from stethoscope.checks.findings import Finding, Severity
from stethoscope.studies.diagnosis.report import Report, StageReport, baseline_line, unseen
from stethoscope.studies.study import Study
from stethoscope.types import Architecture, Status

_MARKS = {"waiting": "○", "running": "◐", "done": "●", "skipped": "–", "failed": "✕"}
_RAN_OUT = "△"
"""Of a stage that memory ran out for: it was not looked at, which says nothing about the model."""


def line(report: Report) -> tuple[float, str]:
    """How much of a diagnosis is done, and which stages run."""
    ended = [stage for stage in report.stages if stage.status in ("done", "skipped", "failed")]
    now = [_doing(stage) for stage in report.stages if stage.status == "running"]
    return len(ended) / max(1, len(report.stages)), " · ".join(now)


def so_far(report: Report, architecture: Architecture, key: str) -> None:
    """An unfinished diagnosis: its stages, and the findings as they arrive."""
    stages(report)
    finding_cards.show(report.findings, architecture, f"moving-{key}")


def answer(report: Report, architecture: Architecture, key: str, code: str) -> None:
    """A finished diagnosis."""
    _verdict(report)
    if report.status is Status.OUT_OF_MEMORY:
        _ran_out(report)
    elif report.reason:
        st.markdown(escape.sentences(report.reason))
    finding_cards.show(report.findings, architecture, key)
    _baseline(report, key)
    _skipped(report)
    with st.expander("How this was done"):
        stages(report)
        for text in (report.facts.get("training") or {}).get("assumed") or ():
            st.markdown(f"- {escape.sentences(text)}")
        st.markdown("The same from the command line:")
        st.code(code, language="bash", wrap_lines=True)


def _verdict(report: Report) -> None:
    ran = unseen(report).ran
    worst = max((finding.severity for finding in report.findings), default=None)
    counts = ", ".join(f"{count} {label}" for label, count in report.counts().items())
    after = f"{words.plural(len(ran), 'check')} ran in {words.duration(report.wall_s)}."
    if report.status is Status.CANCELLED:
        render.verdict("plain", "Cancelled", f"What was found before it ended is below. {counts or 'Nothing yet.'}")
    elif report.status not in (Status.OK, Status.OUT_OF_MEMORY):
        render.verdict("bad", "Failed", "The diagnosis could not finish.")
    elif worst is None:
        render.verdict(
            "good", "Nothing found", f"None of the checks that could run found a defect. {after}{_left_out(report)}"
        )
    elif worst >= Severity.HIGH:
        render.verdict("bad", counts.capitalize(), f"{after} The first card is the most likely cause.")
    elif worst >= Severity.MEDIUM:
        render.verdict("careful", counts.capitalize(), after)
    else:
        render.verdict("good", "Only remarks", f"{counts.capitalize()}. {after}")


def _ran_out(report: Report) -> None:
    """Which parts memory ran out for: the others were looked at, and the first card says the rest."""
    short = [stage.title[:1].lower() + stage.title[1:] for stage in report.stages if stage.shortage is not None]
    if short:
        st.warning(f"Not looked at, because memory ran out: {escape.markdown(', '.join(short))}.")


def _left_out(report: Report) -> str:
    """A sentence on what was not looked at, so that silence is not taken for health."""
    stages = unseen(report).stages
    if not stages:
        return ""
    listed = ", ".join(stage.title[:1].lower() + stage.title[1:] for stage in stages)
    return f" Left out, for the reasons below: {listed}."


def stages(report: Report) -> None:
    """One line per stage."""
    lines = []
    for stage in report.stages:
        took = f" · {words.duration(stage.wall_s)}" if stage.wall_s else ""
        reason = f" — {escape.markdown(stage.reason, 300)}" if stage.reason else ""
        mark = _RAN_OUT if stage.shortage else _MARKS[stage.status]
        lines.append(f"{mark} {escape.markdown(stage.title)}{took}{reason}")
    st.caption("  \n".join(lines))


def _doing(stage: StageReport) -> str:
    return f"{stage.title}: {escape.clip(stage.progress, 80)}" if stage.progress else stage.title


def _baseline(report: Report, key: str) -> None:
    scores = (report.facts.get("baseline") or {}).get("scores") or ()
    if scores:
        st.markdown("**Beside simple models on the same rows**")
        st.caption(f"{escape.sentences(baseline_line(report))}.")
        figure = baseline_figure.scores(scores, str(report.facts["baseline"]["metric"]))
        st.plotly_chart(
            figure, config=figures.CONFIG, key=f"baseline-{key}", alt="Scores of simple models and of this network"
        )


def _skipped(report: Report) -> None:
    known = all_checks()

    def title(check_id: str) -> str:
        return known[check_id].title if check_id in known else check_id

    missed = unseen(report)
    for outcome in missed.broken:
        st.warning(
            f"{escape.markdown(title(outcome.check_id))}: {escape.sentences(outcome.reason)} The other checks were not affected."
        )
    with st.expander(f"{words.plural(len(missed.ran), 'check')} ran, {missed.skipped_count} could not"):
        for skipped in missed.skipped:
            st.markdown(f"**Not run:** {escape.sentences(skipped.reason)}")
            st.caption(" · ".join(escape.markdown(title(check_id)) for check_id in skipped.names))
        st.markdown("**Ran**")
        st.caption(" · ".join(escape.markdown(title(check_id)) for check_id in missed.ran))


def history(kept: Sequence[Study[Report]], shown_id: str) -> None:
    """Earlier diagnoses of this model: open one, or compare two."""
    if len(kept) < 2:
        return
    with st.expander(f"{words.plural(len(kept), 'diagnosis', 'diagnoses')} of this model"):
        names = {item.id: _line(item) for item in kept}
        opened, other = st.columns(2)
        index = list(names).index(shown_id) if shown_id in names else 0
        chosen = opened.selectbox(
            "Show", list(names), index=index, format_func=names.__getitem__, key=f"history-{shown_id}"
        )
        if chosen != shown_id:
            st.query_params["diagnosis"] = chosen
            rerun.whole_page()
        compared = other.selectbox(
            "Compare with",
            [item for item in names if item != chosen],
            index=None,
            format_func=names.__getitem__,
            key="compare",
            bind="query-params",
            placeholder="another diagnosis",
        )
        if compared:
            by_id = {item.id: item.report for item in kept}
            st.dataframe(comparison(by_id[compared], by_id[chosen]), hide_index=True)


def _line(kept: Study[Report]) -> str:
    counts = ", ".join(f"{count} {label}" for label, count in kept.report.counts().items()) or "nothing found"
    asked = kept.report.request
    with_data = f" · {escape.clip(str(asked['data']), 30)}" if asked.get("data") else " · no data"
    return f"{words.ago(kept.report.created_s)}: {counts}{with_data}"


def comparison(earlier: Report, later: Report) -> dict[str, list[str]]:
    """Each finding of either diagnosis: its severity then and now."""
    then, now = _by_place(earlier), _by_place(later)
    table: dict[str, list[str]] = {"Finding": [], "Where": [], "In the other": [], "In this one": [], "Change": []}
    for key in dict.fromkeys([*now, *then]):
        before, after = then.get(key), now.get(key)
        one = after or before
        assert one is not None
        table["Finding"].append(escape.clip(one.title, 80))
        table["Where"].append(escape.clip(one.where, 60))
        table["In the other"].append(before.severity.label if before else "—")
        table["In this one"].append(after.severity.label if after else "—")
        table["Change"].append(_change(before, after))
    return table


def _by_place(report: Report) -> dict[tuple[str, str], Finding]:
    return {(finding.check_id, finding.where): finding for finding in report.findings}


def _change(before: Finding | None, after: Finding | None) -> str:
    if before is None:
        return "new"
    if after is None:
        return "gone"
    if before.severity == after.severity:
        return "same"
    return "worse" if after.severity > before.severity else "milder"


def summary(report: Report) -> dict[str, Any]:
    """The health line of the Overview: counts by severity and when."""
    return {"counts": report.counts(), "created_s": report.created_s, "status": report.status}
