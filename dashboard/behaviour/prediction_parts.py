"""The Prediction page's answer: outputs, memory against its limit, time; or the report of a run that needed too much."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import streamlit as st

from dashboard import cards, escape, figures, outputs, render, tables, words
from stethoscope.jobs import engine, shortage
from stethoscope.jobs.state import JobState
from stethoscope.types import JobResult, Status


def answer(state: JobState, code: str, command: str) -> None:
    """Everything about a finished run."""
    result = state.result
    if result is None:
        return
    if result.status is Status.OUT_OF_MEMORY:
        out_of_memory(state, result)
    elif result.status is not Status.OK:
        render.ending(state)
    else:
        _outputs(state, result)
    if result.status in (Status.OK, Status.OUT_OF_MEMORY):
        _how(result, code, command)


def _limit(state: JobState, result: JobResult) -> int:
    told = result.value.get("settings", {}).get("memory_limit_bytes")
    return int(told or (result.value.get("oom") or {}).get("limit_bytes") or 0)


def _memory(state: JobState, result: JobResult) -> None:
    limit = _limit(state, result)
    if limit:
        st.markdown(f"**Memory**, {words.share(result.peak_rss_bytes, limit)} of the limit used")
        figure = figures.memory(result.peak_rss_bytes, result.value.get("predicted_peak_bytes"), limit)
        st.plotly_chart(figure, config=figures.CONFIG, key="memory", alt="Peak memory against the limit")


def _outputs(state: JobState, result: JobResult) -> None:
    value = result.value
    settings: Mapping[str, Any] = value["settings"]
    samples, batch = int(settings["samples"]), int(settings["batch_size"])
    found: Mapping[str, Mapping[str, Any]] = value["outputs"]
    render.verdict(
        "good",
        "Done",
        f"{words.plural(samples, 'sample')} predicted in {words.plural(int(value.get('batches') or 1), 'batch', 'batches')}.",
    )
    random = all(item.get("source") == "dummy" for item in (value.get("input") or {}).values())
    if random and samples < int(state.params.get("samples") or 0):
        st.caption(f"Fewer than asked for: the model only takes batches of {words.count(batch)}.")
    cards.facts(
        [
            ("Peak memory", words.size(result.peak_rss_bytes), _against(result)),
            (
                "Time per sample",
                words.duration(float(value["time_per_sample_s"])),
                f"in batches of {words.count(batch)}",
            ),
            (
                "Whole run",
                words.duration(result.wall_s),
                "with loading" + (", kept from an earlier run" if state.cached else ""),
            ),
            ("Outputs", words.count(len(found)), _shape(found)),
        ]
    )
    halves = st.grid(2, min_column_width=360, gap=("small", "medium"))
    left, right = halves.cell(), halves.cell()
    with right:
        _memory(state, result)
    with left:
        name = _which(found)
        if name is not None:
            _picture(result, name, found[name])
    if name is not None:
        _rows(result, name, found[name])


def _shape(found: Mapping[str, Mapping[str, Any]]) -> str:
    """The only output's shape and type; nothing where a table shows them all."""
    if len(found) != 1:
        return ""
    (about,) = found.values()
    return f"{words.shape(about['shape'])}, {escape.markdown(about['dtype'])}"


def _which(found: Mapping[str, Mapping[str, Any]]) -> str | None:
    """The output to show; several are listed with their shapes first."""
    names = list(found)
    if len(names) == 1:
        return names[0]
    st.dataframe(tables.outputs(found), hide_index=True, height="content" if len(found) <= 6 else 250)
    return st.selectbox("Output", names, key="output", format_func=escape.clip)


def _against(result: JobResult) -> str:
    predicted = result.value.get("predicted_peak_bytes")
    if not predicted:
        return ""
    change = 100 * (result.peak_rss_bytes - predicted) / predicted
    sign = "+" if change > 0 else "−" if change < 0 else "±"
    return f"predicted {words.size(predicted)} ({sign}{abs(change):.0f} %)"


def _picture(result: JobResult, name: str, about: Mapping[str, Any]) -> None:
    path = result.files.get(str(about["path"]))
    array = outputs.load(path) if path is not None else None
    st.markdown(f"**What it returned**, output {escape.code(name)}")
    if array is not None and array.ndim and array.shape[0] and array.dtype.kind in "fiub":
        row = 0
        if array.shape[0] > 1:
            row = int(
                st.number_input(
                    f"Sample (0 to {words.count(array.shape[0] - 1)})",
                    0,
                    array.shape[0] - 1,
                    0,
                    key="sample",
                    width=220,
                )
            )
        st.plotly_chart(
            figures.output_values(np.asarray(array[row]), name),
            config=figures.CONFIG,
            key="values",
            alt="Output values of one sample",
        )
    else:
        st.caption("These values are not numbers; the table below shows the first of them.")


def _rows(result: JobResult, name: str, about: Mapping[str, Any]) -> None:
    rows = (result.value.get("preview") or {}).get(name)
    if rows:
        st.caption(
            f"First {words.plural(len(rows), 'row')}, first {words.plural(len(rows[0]) if isinstance(rows[0], list) else 1, 'value')}"
        )
        st.dataframe(tables.preview(rows), hide_index=True)
    outputs.downloads(result, name, about)


def out_of_memory(state: JobState, result: JobResult) -> None:
    """The report card: peak, phase, tensor, and what would fit."""
    oom: Mapping[str, Any] = result.value.get("oom") or {}
    limit = _limit(state, result)
    batch = int(oom.get("batch_size") or state.params.get("batch_size") or 0)
    estimate = _estimate(oom, batch)
    smaller = any(item.get("setting") == "batch_size" for item in oom.get("change") or ()) or "change" not in oom
    offer = next_batch(batch, int(estimate.get("low") or 0), _failed_batches(state, limit)) if smaller else 0
    with st.container(border=True):
        render.verdict("bad", "Out of memory", what_ran_out(oom, result.phase, batch, limit))
        st.markdown(escape.sentences(_without_refuted_advice(result.reason, oom, estimate)))
        shape = oom.get("tensor_shape")
        cards.facts(
            [
                ("Peak memory", words.size(result.peak_rss_bytes), "when it was stopped"),
                ("Phase", escape.markdown(result.phase or "unknown"), f"after {words.duration(result.wall_s)}"),
                (
                    "Largest tensor expected" if oom.get("tensor_from") == "expected" else "Tensor that did not fit",
                    words.shape(shape) if shape else "not known",
                    escape.markdown(str(oom.get("operator") or ""), 80),
                ),
                ("What would fit", *_fits(estimate, batch)),
            ]
        )
        _memory(state, result)
        if offer:
            st.button(
                f"Run again with batch size {words.count(offer)}",
                type="primary",
                key="smaller",
                on_click=_smaller,
                args=(offer,),
            )
        else:
            st.caption(
                "Raise the memory limit, or make the input smaller (shorter sequences, smaller images), and run again."
            )
        st.caption("Only the contained process ended; the app and other runs did not notice.")


def what_ran_out(oom: Mapping[str, Any], phase: str, batch: int, limit: int) -> str:
    """In a sentence, whose memory ran out and in doing what; the limit in bytes, 0 when it is not known."""
    if oom.get("mechanism") == "host":
        return "The machine itself ran out of memory; this run was within its limit, but held the most."
    if oom.get("mechanism") == "kill":
        return "The process was ended from outside, as happens when the machine runs out of memory."
    of = f" of {words.size(limit)}" if limit else ""
    if phase in shortage.LOADING:
        return f"Already loading the model needs more than the limit{of}."
    if phase in shortage.TRACING:
        return f"Already the first call, with as few rows as the model takes, needs more than the limit{of}."
    if phase in shortage.JOINING:
        return f"Every batch fits; their outputs together need more than the limit{of}."
    return f"A batch of {words.count(batch)} needs more than the limit{of}."


def _estimate(oom: Mapping[str, Any], batch: int) -> Mapping[str, Any]:
    """The estimate of the largest batch; empty when this very run has refuted it."""
    found: Mapping[str, Any] = oom.get("largest_batch_estimate") or {}
    return found if int(found.get("low") or 0) < batch else {}


def _without_refuted_advice(reason: str, oom: Mapping[str, Any], estimate: Mapping[str, Any]) -> str:
    refuted = oom.get("largest_batch_estimate") if not estimate else None
    return reason.replace(f" A batch of {int(refuted['low']):,} is estimated to fit.", "") if refuted else reason


def _failed_batches(state: JobState, limit: int) -> set[int]:
    """Batches of this model that ran out of memory at this limit or a higher one."""
    found = set()
    for other in engine().jobs(entry_id=state.entry_id):
        result = other.result
        if other.kind == "predict" and result is not None and result.status is Status.OUT_OF_MEMORY:
            batch = (result.value.get("oom") or {}).get("batch_size") or other.params.get("batch_size")
            if batch and _limit(other, result) >= limit:
                found.add(int(batch))
    return found


def next_batch(batch: int, fits: int, failed: Collection[int]) -> int:
    """The batch size to offer after `batch` ran out of memory: what is estimated to fit, never one that failed; 0 for none."""
    offer = fits if 0 < fits < batch else batch // 2
    least = min(failed, default=batch)
    return min(offer, least // 2) if offer >= least else offer


def _fits(estimate: Mapping[str, Any], batch: int) -> tuple[str, str]:
    if not estimate.get("high"):
        return "not known", f"less than {words.count(batch)}, which was tried" if batch > 1 else "not even one row"
    low, high = int(estimate["low"]), min(int(estimate["high"]), max(1, batch - 1))
    if not low:
        return "no whole row", "estimated from small batches"
    span = f"batch {words.count(low)}" if low == high else f"{words.count(low)} to {words.count(high)}"
    return f"batch {words.count(low)}", f"estimated: {span}"


def _smaller(batch: int) -> None:
    st.session_state["batch"] = batch
    st.session_state["_run_now"] = True


def _how(result: JobResult, code: str, command: str) -> None:
    with st.expander("How this was done, and how to do it yourself"):
        given = ", ".join(
            f"{escape.code(name)} {words.shape(item['shape'])} {escape.markdown(item['dtype'])} ({escape.markdown(item.get('source') or '')})"
            for name, item in (result.value.get("input") or {}).items()
        )
        st.markdown(
            f"The model was opened in a contained process of its own. Input: {given or 'not recorded'}. Small batches were measured first to predict "
            "the peak; then the memory limit was set and the batches were run. Peak memory is what the run added to its process."
        )
        st.markdown("**Python**")
        st.code(code, language="python", wrap_lines=False)
        st.markdown("**Command line**")
        st.code(command, language="bash", wrap_lines=True)
