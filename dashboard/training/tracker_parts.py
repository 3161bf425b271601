"""What trackers know of runs beside their curves: experiments and how their runs ended, and results by version of the data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import escape, rerun, words
from dashboard.training import curves_link
from dashboard.training.compare_inputs import Log
from stethoscope.logs.runs.compare import Comparison, Metric, short_names, take_runs

_MOST_ROWS = 12
_MOST_NAMED = 6
_MOST_GROUPS = 500


def experiments(log: Log, by: Metric) -> None:
    """Experiments of a tracker, or folders of runs, where there are several; one can be chosen to see only its runs."""
    groups = list(dict.fromkeys(log.runs.groups))
    if len(groups) < 2:
        return
    kind = noun(log)
    tracked = kind == "experiment"
    title = words.plural(len(groups), kind) if tracked else f"{len(groups):,} groups of runs"
    with st.expander(title, expanded=tracked):
        shown = groups[:_MOST_GROUPS]
        event = st.dataframe(
            experiment_table(log.runs, by, shown, kind.capitalize()),
            hide_index=True,
            key="compare-experiments",
            on_select="rerun",
            selection_mode="single-row",
            height="content" if len(shown) <= _MOST_ROWS else 38 * _MOST_ROWS,
        )
        rows = [row for row in event["selection"]["rows"] if row < len(shown)]
        if not rows:
            st.caption(f"Choose a row to compare only the runs of that {kind}, or to see their curves.")
            return
        group = shown[rows[0]]
        runs = [run for run, of in zip(log.runs.runs, log.runs.groups, strict=True) if of == group]
        with st.container(horizontal=True):
            st.button(f"Compare only this {kind}", key="compare-only", on_click=_filter_to, args=(group,))
            some = runs[: curves_link.MOST_NAMED]
            which = "its runs" if len(some) == len(runs) else f"{len(some)} of its {len(runs):,} runs"
            if st.button(f"Show the curves of {which}", key="experiment-curves"):
                curves_link.show_curves(log.job_id, some)
                rerun.whole_page()


def noun(log: Log) -> str:
    """What the log's tracker calls runs that belong together."""
    return "experiment" if any(one.startswith("mlflow") for one in log.trackers) else "group"


def _filter_to(group: str) -> None:
    mark = "'" if '"' in group else '"'
    st.session_state["compare-filter"] = f"group={mark}{group}{mark}" if mark not in group else ""


def experiment_table(runs: Comparison, by: Metric, groups: Sequence[str], heading: str) -> dict[str, list[Any]]:
    """One row per group: how many runs, how they ended, what the best reached, in which parameters they differ."""
    places: dict[str, list[int]] = {group: [] for group in groups}
    for place, group in enumerate(runs.groups):
        if group in places:
            places[group].append(place)
    statuses = runs.notes.get("status", ())
    columns: dict[str, list[Any]] = {heading: [escape.clip(group or "(no name)") for group in groups], "Runs": []}
    columns |= {"Ended": []} if statuses else {}
    columns |= {"Best run": [], "Best": [], "Median": [], "Differ in": []}
    for group in groups:
        own = places[group]
        reached, mine = take_runs(by, own), runs.take(own)
        columns["Runs"].append(len(own))
        if statuses:
            counted = Counter(statuses[place].lower() or "not said" for place in own)
            columns["Ended"].append(", ".join(f"{count:,} {text}" for text, count in counted.most_common(4)))
        best = reached.winner
        columns["Best run"].append("" if best is None else escape.clip(mine.runs[best], 60))
        columns["Best"].append(None if best is None else float(reached.best[best]))
        columns["Median"].append(None if best is None else reached.median_best())
        columns["Differ in"].append(_some(mine.varying))
    return columns


def _some(names: Sequence[str]) -> str:
    short = short_names(names)
    shown = ", ".join(escape.clip(short[name], 30) for name in names[:_MOST_NAMED])
    return f"{shown} and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else shown


def versions_of(runs: Comparison) -> list[str]:
    """Which data each run used, as its tracker noted it ("" where it did not): MLflow's datasets, DVC's hashes."""
    said: Mapping[str, Sequence[str]] = {
        name: texts for name, texts in runs.notes.items() if name == "data" or name.startswith("data ")
    }
    found = []
    for place in range(len(runs.runs)):
        parts = [
            text if name == "data" else f"{name.removeprefix('data ')} {_hash(text)}"
            for name, texts in sorted(said.items())
            if (text := texts[place])
        ]
        found.append("; ".join(parts))
    return found


def _hash(text: str) -> str:
    """A note of DVC is "md5 d41d8cd98f…": its first eight characters tell versions apart."""
    return text.rpartition(" ")[2][:8]


def by_version(runs: Comparison, by: Metric) -> dict[str, list[Any]]:
    """One row per version of the data, as first seen: how many runs used it and what they reached."""
    places: dict[str, list[int]] = {}
    for place, version in enumerate(versions_of(runs)):
        places.setdefault(version, []).append(place)
    columns: dict[str, list[Any]] = {"Data": [], "Runs": [], "Best run": [], "Best": [], "Median": []}
    for version, own in places.items():
        reached = take_runs(by, own)
        best = reached.winner
        columns["Data"].append(escape.clip(version or "not said", 400))
        columns["Runs"].append(len(own))
        columns["Best run"].append("" if best is None else escape.clip(runs.runs[own[best]], 60))
        columns["Best"].append(None if best is None else float(reached.best[best]))
        columns["Median"].append(None if best is None else reached.median_best())
    return columns
