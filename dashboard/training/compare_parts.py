"""Runs beside each other: what each was given, what it reached, which is best, and what made the difference."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from dashboard import escape, figures, fragments, rerun, words
from dashboard.training import compare_figures, compare_table, followed, parallel_view, tracker_parts, version_parts
from dashboard.training.compare_inputs import Chosen, Log, choose, filtered, id_of, one_of
from dashboard.training.followed import OpenLog
from dashboard.training.parallel_view import Column
from stethoscope.logs.runs.axes import axis_of
from stethoscope.logs.runs.compare import Comparison, Metric, metric_in, short_names, take_runs
from stethoscope.logs.runs.influence import Influence, influences
from stethoscope.logs.runs.table import RunTable

if TYPE_CHECKING:
    from dashboard.training.log_choice import LogView

WAIT_S, SOON_S, FOLLOW_S = 1.0, 1.0, 30.0
VIEWS = ("Runs", "Versions of data")
_MOST_AXES = 12


def show(log: LogView) -> None:
    """The view Compare of the page Training."""
    # What was added since is looked for at the end: a look waits for a worker.
    found = followed.opened(log.job_id, look=False)
    if found.table is None:
        _wait(log.job_id)
        return
    asked = st.segmented_control(
        "Compare",
        VIEWS,
        default=VIEWS[0],
        key="compared",
        bind="query-params",
        required=True,
        label_visibility="collapsed",
    )
    compared = log_of(found, found.table)
    if asked == VIEWS[1]:
        version_parts.show(log, compared)
    else:
        draw(compared)
    if found.live:
        _follow(log.job_id, found.revision)


@fragments.part(run_every=FOLLOW_S)
def _follow(job_id: str, drawn: int) -> None:
    """Draws the page again when something was added to a folder that is written."""
    if followed.opened(job_id).revision != drawn:
        rerun.whole_page()


@fragments.part(run_every=WAIT_S)
def _wait(job_id: str) -> None:
    """Says how the first reading stands, and draws the page again once it has ended."""
    found = followed.opened(job_id)
    if found.table is not None:
        rerun.whole_page()
    st.info(escape.sentences(found.problem or "The logs are still being read."))


def log_of(found: OpenLog, table: RunTable) -> Log:
    """What is compared of a log that was read."""
    index = found.index()
    return Log(
        found.id,
        found.revision,
        frozenset(str(run["tracker"]) for run in index["runs"]),
        found.answer("comparison", lambda: Comparison.of(index["runs"])),
        {str(one["tag"]): int(one["runs"]) for one in index["tags"] if one["runs"]},
        lambda tag, higher: found.answer(("metric", tag, higher), lambda: metric_in(table, tag, higher)),
        found.answer,
    )


@fragments.part()
def draw(log: Log) -> None:
    """The comparison of runs. A fragment: a filter or another metric does not draw the rest of the page."""
    if not log.tags:
        st.info("These runs have no numbers to compare: no scalars were logged.")
        return
    chosen = choose(log)

    @functools.cache
    def metric(tag: str) -> Metric:
        return log.metric(tag, chosen.higher_is_better(tag))

    if chosen.by:
        tracker_parts.experiments(log, metric(chosen.by))
    if log.runs.left_out:
        st.caption(f"{words.plural(log.runs.left_out, 'parameter')} that few runs have are left out of this page.")
    places = filtered(log, metric)
    if places is None or not chosen.by:
        return
    if not places:
        st.info("No run meets the filter. Loosen it to see runs here.")
        return
    compared, metrics = log.runs.take(places), [take_runs(metric(tag), places) for tag in chosen.metrics]
    by = next(one for one in metrics if one.tag == chosen.by)
    _verdict(compared, by)
    _pictures(compared, metrics, by, chosen, tracker_parts.noun(log))
    compare_table.draw(log.job_id, compared, metrics, by, chosen)
    _difference(log, compared, metrics, by)


def _verdict(compared: Comparison, by: Metric) -> None:
    name = escape.code(by.tag)
    with_it = int(by.present.sum())
    if by.winner is None:
        none = "none of these runs" if with_it else "No run here has it, so none"
        st.markdown(f"**No best run:** {none} reached a finite value of {name}.")
        return
    best, middle = float(by.best[by.winner]), by.median_best()
    unit = compared.units[by.winner] if compared.units else "step"
    failed = int((by.present & (by.points == by.nonfinite)).sum())
    parts = [
        f"**Best:** {escape.code(compared.runs[by.winner])}, {name} {words.significant(best, 4)} at {unit} "
        f"{words.count(int(by.best_step[by.winner]))}"
    ]
    if with_it > 1:
        side = "the highest" if by.higher_is_better else "the lowest"
        parts.append(f"{side} of {words.plural(with_it, 'run')}, whose median is {words.significant(middle, 4)}")
    if failed:
        parts.append(f"{words.plural(failed, 'run')} never gave a finite value")
    st.markdown(", ".join(parts[:2]) + ("; " + parts[2] if len(parts) > 2 else "") + ".")


def _pictures(compared: Comparison, metrics: Sequence[Metric], by: Metric, chosen: Chosen, noun: str) -> None:
    having = by.order()[: int(by.present.sum())].tolist()
    if len(having) < 2:
        return
    every = np.unique(np.linspace(0, len(having) - 1, min(len(having), parallel_view.MAX_LINES)).astype(int))
    shown = [having[place] for place in every]
    some, ranked = compared.take(shown), take_runs(by, shown)
    short = short_names(chosen.parameters)
    columns = [Column(short[name], axis_of(some.parameters[name])) for name in chosen.parameters]
    if len(set(some.groups)) > 1:
        columns.insert(0, Column(noun, axis_of(some.groups)))
    ordered = [one for one in metrics if one.tag != by.tag]
    columns += [_column(take_runs(one, shown)) for one in ordered]
    last = _column(ranked)
    columns = [*columns[: _MOST_AXES - 1], last]
    if len(columns) > 1:
        parallel_view.show(columns, some.runs, low_is_good=not by.higher_is_better, key="compare-parallel")
        left_out = len(compared.runs) - len(having)
        note = f" {words.plural(left_out, 'run')} without {escape.code(by.tag)} left out." if left_out else ""
        if len(shown) < len(having):
            note += f" {len(shown):,} of {len(having):,} runs are drawn, spread evenly from the best to the worst."
        st.caption(
            "One line per run, coloured by the last axis; point at one to see its name. Draw along an axis to keep only the "
            f"lines through it, drag its name to move it, click the axis to keep all again.{note}"
        )


def _column(metric: Metric) -> Column:
    best = [float(one) if points else None for one, points in zip(metric.best, metric.points, strict=True)]
    return Column(f"best {metric.tag}", axis_of(best, nan_above=not metric.higher_is_better))


def _difference(log: Log, compared: Comparison, metrics: Sequence[Metric], by: Metric) -> None:
    varying = compared.varying
    if not varying or int(by.present.sum()) < 2:
        if not compared.parameters:
            st.caption(
                "These runs say no parameters. With TensorBoard's hparams, `mlflow.log_params` or DVC's params.yaml this page shows "
                "what made the difference."
            )
        return
    found = log.answer(
        ("influences", by.tag, by.higher_is_better, compared.runs),
        lambda: influences({name: compared.parameters[name] for name in varying}, by),
    )
    halves = st.grid(2, min_column_width=380, gap="medium")
    with halves.cell():
        st.markdown("**What made the difference**")
        _influences(found, by, short_names(varying))
    with halves.cell():
        st.markdown("**One against another**")
        if _stands(log.job_id):
            _scatter(compared, metrics, by, [one.parameter for one in found])
        else:
            st.skeleton(height=340)


def _stands(job_id: str) -> bool:
    """Whether this browser tab has drawn the view before; if not, it is drawn again soon.

    Plotly is megabytes of script: fetched at once, it would hold up the picture and the table above.
    """
    key = "_compare-stands"
    if st.session_state.get(key) == job_id:
        return True

    @fragments.part(run_every=SOON_S)
    def wait() -> None:
        if st.session_state.get(key) == job_id:
            rerun.whole_page()
        st.session_state[key] = job_id

    wait()
    return False


def _influences(found: Sequence[Influence], by: Metric, short: Mapping[str, str]) -> None:
    st.dataframe(
        {
            "Parameter": [escape.clip(short[one.parameter], 40) for one in found],
            "Explains": [None if one.untold else one.strength for one in found],
            "What these runs say": [escape.clip(said(one, by, short), 400) for one in found],
        },
        hide_index=True,
        key="compare-influences",
        column_config={
            "Explains": st.column_config.ProgressColumn(min_value=0.0, max_value=1.0, format="%.2f", width="small"),
            "What these runs say": st.column_config.TextColumn(width="large"),
        },
    )
    st.caption(
        f"From the order of {words.plural(int(by.present.sum()), 'run')} by their best {escape.code(by.tag)}; a run that only gave "
        "NaN counts as the worst. Chance: how often shuffled results look as good in any of the parameters. What goes "
        "together need not be the cause: only runs that differ in one thing show what that thing does."
    )


def said(one: Influence, by: Metric, short: Mapping[str, str]) -> str:
    """One parameter's influence in words."""
    if one.untold:
        return f"Nothing can be said: {one.untold}."
    chance = "under 1 %" if one.chance < 0.01 else f"{100 * one.chance:.0f} %"
    if not one.matters:
        return f"No more than chance would give ({words.plural(one.runs, 'run')}, chance {chance})."
    trend = ""
    if abs(one.direction) >= 0.6:
        trend = f"; the {'smaller' if one.direction > 0 else 'larger'} the better"
    confused = ""
    if one.together_with:
        names = ", ".join(short.get(name, name) for name in one.together_with)
        confused = f" It changed together with {names}, so it may be that."
    return f"Best with {one.best}{trend} ({words.plural(one.runs, 'run')}, chance {chance}).{confused}"


def _scatter(compared: Comparison, metrics: Sequence[Metric], by: Metric, varying: Sequence[str]) -> None:
    names = {id_of(name): name for name in varying}
    tags = {id_of(one.tag): one for one in [by, *(other for other in metrics if other is not by)]}
    row = st.grid(2, min_column_width=150)
    with row.cell():
        across = one_of("Across", list(names), lambda one: escape.clip(names[one], 60), "across")
    with row.cell():
        up = one_of("Up", list(tags), lambda one: escape.clip(tags[one].tag, 60), "up")
    name, metric = names[across], tags[up]
    shown = [place for place in range(len(compared.runs)) if metric.points[place]]
    if not shown:
        st.caption("No run has this metric.")
        return
    some, reached = compared.take(shown), take_runs(metric, shown)
    short = short_names(list(compared.parameters))
    hovers = [
        compare_figures.hover([(short[name], given), (metric.tag, float(value))])
        for given, value in zip(some.parameters[name], reached.best, strict=True)
    ]
    figure = compare_figures.scatter(
        Column(short[name], axis_of(some.parameters[name])),
        _column(reached),
        some.runs,
        some.groups,
        hovers,
        reached.winner,
    )
    st.plotly_chart(
        figure, config=figures.CONFIG, key="compare-scatter", alt="A parameter against a metric, one point per run"
    )
