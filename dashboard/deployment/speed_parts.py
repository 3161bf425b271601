"""The answer of one timing: which is fastest and by how much, the picture, the tables, and how it was done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from dashboard import escape, figures, panel, progress, recipes, render, session, words
from dashboard.data import data_use
from dashboard.deployment import parity_others, speed_figures, speed_jobs, speed_table
from dashboard.session import View
from stethoscope.codec import partial_of
from stethoscope.compare.latency_row import Row, TimedModel
from stethoscope.errors import NotFound
from stethoscope.jobs.protocol import JobState
from stethoscope.jobs.store import store
from stethoscope.tasks.latency import Latencies
from stethoscope.types import Status

_SAMPLE = "sample-digits-cnn"
_IN_OTHER_FORMS = ("sample-digits-cnn-onnx", "sample-digits-cnn-tflite", "sample-digits-cnn-int8")


def show(view: View) -> None:
    """What is under way, or the answer, or what pressing the button would tell."""
    assert view.entry is not None
    state = speed_jobs.shown(view)
    if state is None:
        invitation(view)
        return
    if not state.done:
        progress.watch(state, subject=view.entry.name, may_cancel=panel.may_cancel(state, view))
        return
    answer(state, _names(state, view))


def invitation(view: View) -> None:
    """The empty state: what the button would tell, and models to try it on."""
    assert view.entry is not None
    with st.container(border=True):
        st.markdown(
            "**Choose the models that do the same job**, above, or none to time this one alone. Each is opened and called once; then all are "
            "called in turns on the same rows, again and again. You see the median call and the slow ones (p90, p99) per batch size, what a "
            "first call costs, the size on disk and the memory."
        )
        there = {key: title for key in (_SAMPLE, *_IN_OTHER_FORMS) if (title := _title(key))}
        others = [key for key in there if key != _SAMPLE]
        if _SAMPLE not in there or not others or session.recalled(parity_others.ADDRESS):
            return
        if view.entry.id == _SAMPLE:
            st.markdown(
                f"To try it, choose {', '.join(escape.markdown(there[key], 60) for key in others)}: the same sample in other forms."
            )
        else:
            st.button("Try it on a sample in other forms", key="speed-sample", on_click=_try, args=(others,))


def _try(others: Sequence[str]) -> None:
    session.choose(_SAMPLE)
    session.remember(parity_others.ADDRESS, ",".join(others))


def _title(key: str) -> str:
    """What a sample is called; "" where it is not there."""
    try:
        return store().get(key).title
    except NotFound:
        return ""


def answer(state: JobState, names: Mapping[str, str]) -> None:
    """Everything about a timing that ended.

    Args:
        state: with a result.
        names: what the models' files are called, by role. Hostile.
    """
    assert state.result is not None
    known = partial_of(state.result, Latencies) or Latencies()
    rows, models = known.rows, known.models
    groups = speed_table.timed(rows)
    if state.result.status is not Status.OK:
        render.ending(state)
        if groups:
            st.caption("What was found before the run ended:")
    if not groups:
        return
    called = speed_table.titles(rows, names)
    sizes = list(groups)
    render.verdict("good", "Timed", sentence(sizes[0], groups, called))
    more = [sentence(sizes[-1], groups, called)] if len(sizes) > 1 else []
    st.markdown(" ".join([*more, smallest(models, names)]))
    st.plotly_chart(
        speed_figures.by_batch(groups, called),
        config=figures.CONFIG,
        key="speed-figure",
        alt="Median, p90 and p99 of one call of each model, by batch size",
    )
    few = any(row.p50_s and row.p99_s is None for row in rows)
    st.caption(
        "Dot: the median call (p50). Thick line: up to p90. Thin line: up to p99. Diamond: the fastest."
        + (
            " Where p99 or p90 is missing, too few calls fitted into the time: give more seconds, under More."
            if few
            else ""
        )
    )
    for reason in _reasons(rows, models):
        st.warning(escape.sentences(words.readable(reason)))
    for note in known.notes[:6]:
        st.info(escape.sentences(words.readable(note)))
    st.markdown("**Times of one call**")
    st.dataframe(speed_table.times(rows, called), hide_index=True, height="content" if len(rows) <= 15 else 560)
    st.markdown("**Size, loading and memory**")
    st.dataframe(speed_table.models(models, names), hide_index=True, height="content")
    st.download_button(
        "CSV of all numbers",
        speed_table.as_csv(rows, models),
        f"{escape.file_name(names['model'])}.latency.csv",
        "text/csv",
        key="speed-csv",
        on_click="ignore",
    )
    _how(state, known, names)


def sentence(size: int, groups: Mapping[int, Sequence[Row]], called: Mapping[tuple[str, str], str]) -> str:
    """Which is the fastest on batches of one size, and by how much, in Markdown.

    Args:
        size: one of `groups`.
        groups: rows of an answer that have times, by batch size.
        called: what to call each, by role and call. Hostile.
    """
    rows = groups[size]
    best = min(rows, key=lambda row: row.p50_s or 0.0)
    first = speed_table.base(rows)
    name, took = escape.code(called[best.role, best.call]), words.duration(best.p50_s or 0.0)
    if len(rows) == 1:
        return f"{name} takes {took} for {words.plural(size, 'row')}."
    against = "" if first is None or first is best else f", {_faster(best, first, called)}"
    return f"{name} is the fastest with {words.plural(size, 'row')} a call: {took}{against}."


def smallest(models: Sequence[TimedModel], names: Mapping[str, str]) -> str:
    """Which of several files is the smallest, in Markdown; "" where there is one only."""
    sized = [(one.size_bytes, one.role) for one in models if one.size_bytes]
    if len(sized) < 2:
        return ""
    least, role = min(sized, key=lambda pair: pair[0])
    size, first = next((pair for pair in sized if pair[1] == "model"), (least, role))
    said = f"{escape.code(names[role])} is the smallest: {words.size(least)}"
    return said + ("." if first == role else f", {words.share(least, size)} of {escape.code(names['model'])}.")


def _faster(row: Row, than: Row, called: Mapping[tuple[str, str], str]) -> str:
    said = speed_table.faster(row, than)
    return f"{said} {'as' if said.endswith('as fast') else 'than'} {escape.code(called[than.role, than.call])}"


def _reasons(rows: Sequence[Row], models: Sequence[TimedModel]) -> list[str]:
    """Why something has no time, each once."""
    reasons = [*(model.reason for model in models), *(row.reason for row in rows if not row.p50_s)]
    return list(dict.fromkeys(reason for reason in reasons if reason))


def _names(state: JobState, view: View) -> dict[str, str]:
    assert view.entry is not None
    ids = [view.entry.id, *speed_jobs.other_ids(state)]
    found = parity_others.names(ids)
    return {("model" if not place else f"other-{place}"): found[key] for place, key in enumerate(ids)}


def _how(state: JobState, known: Latencies, names: Mapping[str, str]) -> None:
    assert state.result is not None
    with st.expander("How this was done, and how to do it yourself"):
        source = "random input" if known.source == "dummy" else escape.code(known.source)
        order = (
            "All models were held in memory and called in short turns, so that what disturbs the machine disturbs all of them"
            if known.together
            else "Together the models are too large for the memory of one job: they were timed one after the other"
        )
        used = sorted({row.threads for row in known.rows})
        st.markdown(
            f"Every model got the same rows of {source}, in a contained process. {order}. Calls were counted for "
            f"{words.duration(known.seconds)} in each row of the table, after calls that were not, with "
            f"{' or '.join(map(str, used))} {'thread' if used == [1] else 'threads'} on {words.plural(known.cores, 'core')}. "
            "A call goes from arrays to arrays: what it takes to hand them to the runtime and back is in it; turning the rows into what the "
            "model takes is not. Memory was measured apart, on the first calls, without the input. Loading leaves out what starting the "
            "runtime takes."
        )
        st.caption(
            f"Took {words.duration(state.result.wall_s)}{', kept from before' if state.cached else ''}. A phone, a server or another number "
            "of cores has other times: measure there before deciding."
        )
        st.markdown("**Command line**")
        st.code(command(state, names), language="bash", wrap_lines=True)


def command(state: JobState, names: Mapping[str, str]) -> str:
    """The `stethoscope latency` that does the same."""
    params = state.params
    known = partial_of(state.result, Latencies) if state.result is not None else None
    source = known.source if known else "dummy"
    calls = list(params.get("calls") or ())
    return recipes.command_line(
        "latency",
        names["model"],
        {
            "data": source if source != "dummy" else None,
            **data_use.command_options(params),
            "batch-sizes": ",".join(str(one) for one in params.get("batch_sizes") or ()) or None,
            "threads": params.get("threads"),
            "calls": ",".join(calls) if calls not in ([], ["function"]) else None,
            "seconds": f"{float(params['seconds']):g}" if params.get("seconds") else None,
            "device": params.get("device") if params.get("device") not in (None, "auto") else None,
            "seed": params.get("seed") or None,
        },
        *(name for role, name in names.items() if role != "model"),
    )
