"""The Prediction page's answer: outputs, memory against its limit, time; or the report of a run that needed too much."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import streamlit as st

from dashboard import cards, escape, figures, open_size, outputs, render, tables, words
from stethoscope.codec import partial_of
from stethoscope.framework_errors import BatchInterval, ShortageReport, shortage_of
from stethoscope.jobs import engine, shortage
from stethoscope.jobs.protocol import JobState
from stethoscope.memory.prediction import Output, Prediction
from stethoscope.types import JobResult, Status


def answer(state: JobState, code: str, command: str) -> None:
    """Everything about a finished run."""
    result = state.result
    if result is None:
        return
    known = partial_of(result, Prediction)
    if result.status is Status.OUT_OF_MEMORY:
        out_of_memory(state, result)
    elif result.status is not Status.OK:
        render.ending(state)
    elif known is not None:
        _outputs(state, result, known)
    if result.status in (Status.OK, Status.OUT_OF_MEMORY):
        _how(known, code, command)


def _limit(result: JobResult) -> int:
    """The run's memory limit in bytes; 0 where it is not known."""
    known, shortage = partial_of(result, Prediction), shortage_of(result)
    limit = known.settings.memory_limit_bytes if known else None
    return limit or (shortage.limit_bytes if shortage else 0)


def _memory(result: JobResult, known: Prediction | None) -> None:
    limit = _limit(result)
    if limit:
        peak = _peak(result, known)
        st.markdown(f"**Memory**, {words.share(peak, limit)} of the limit used")
        figure = figures.memory(peak, known.predicted_peak_bytes if known else None, limit)
        st.plotly_chart(figure, config=figures.CONFIG, key="memory", alt="Peak memory against the limit")


def _outputs(state: JobState, result: JobResult, made: Prediction) -> None:
    samples, batch = made.settings.samples, made.settings.batch_size
    said = f"{words.plural(samples, 'sample')}{_of_size(made)} predicted in {words.plural(made.batches or 1, 'batch', 'batches')}."
    if made.at_once:
        said = "All inputs went into one call: the graph takes them only together."
    render.verdict("good", "Done", said)
    random = all(fed.source == "dummy" for fed in made.input.values())
    if random and samples < int(state.params.get("samples") or 0):
        st.caption(f"Fewer than asked for: the model only takes batches of {words.count(batch)}.")
    cards.facts(
        [
            ("Peak memory", words.size(_peak(result, made)), _against(result, made)),
            ("Time per sample", words.duration(made.time_per_sample_s or 0.0), f"in batches of {words.count(batch)}"),
            (
                "Whole run",
                words.duration(result.wall_s),
                "with loading" + (", kept from an earlier run" if state.cached else ""),
            ),
            ("Outputs", words.count(len(made.outputs)), _shape(made.outputs)),
        ]
    )
    halves = st.grid(2, min_column_width=360, gap=("small", "medium"))
    left, right = halves.cell(), halves.cell()
    with right:
        _memory(result, made)
    with left:
        name = _which(made.outputs)
        if name is not None:
            _picture(result, name, made.outputs[name])
    if name is not None:
        _rows(result, name, made)


def _of_size(made: Prediction) -> str:
    size = open_size.said(made.open_sizes)
    return f" of {size}" if size else ""


def _shape(arrays: Mapping[str, Output]) -> str:
    """The only output's shape and type; nothing where a table shows them all."""
    if len(arrays) != 1:
        return ""
    (output,) = arrays.values()
    return f"{words.shape(output.shape)}, {escape.markdown(output.dtype)}"


def _which(arrays: Mapping[str, Output]) -> str | None:
    """The output to show; several are listed with their shapes first."""
    names = list(arrays)
    if len(names) == 1:
        return names[0]
    st.dataframe(tables.outputs(arrays), hide_index=True, height="content" if len(arrays) <= 6 else 250)
    return st.selectbox("Output", names, key="output", format_func=escape.clip)


def _peak(result: JobResult, known: Prediction | None) -> int:
    """What the model's process added, in bytes; of a run that ended early, as far as it was seen."""
    return (known.measured_peak_bytes if known else None) or result.peak_rss_bytes


def _against(result: JobResult, made: Prediction) -> str:
    lean, predicted = made.lean_predicted_peak_bytes, made.predicted_peak_bytes
    if lean:
        return f"about {words.size(lean)} with lean settings"
    if not predicted:
        return ""
    change = 100 * (_peak(result, made) - predicted) / predicted
    sign = "+" if change > 0 else "−" if change < 0 else "±"
    return f"predicted {words.size(predicted)} ({sign}{abs(change):.0f} %)"


def _picture(result: JobResult, name: str, output: Output) -> None:
    path = result.files.get(output.path)
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


def _rows(result: JobResult, name: str, made: Prediction) -> None:
    rows = made.preview.get(name)
    if rows:
        st.caption(f"First {words.plural(len(rows), 'row')}, first {words.plural(len(rows[0]), 'value')}")
        st.dataframe(tables.preview(rows), hide_index=True)
    outputs.downloads(result, name, made.outputs)


def out_of_memory(state: JobState, result: JobResult) -> None:
    """The report card: peak, phase, tensor, and what would fit."""
    report = shortage_of(result) or ShortageReport()
    limit = _limit(result)
    batch = report.batch_size or int(state.params.get("batch_size") or 0)
    estimate = _estimate(report, batch)
    smaller = any(change.setting == "batch_size" for change in report.change)
    offer = next_batch(batch, estimate.low if estimate else 0, _failed_batches(state, limit)) if smaller else 0
    with st.container(border=True):
        render.verdict("bad", "Out of memory", what_ran_out(report, result.phase, batch, limit))
        st.markdown(escape.sentences(_without_refuted_advice(result.reason, report, estimate)))
        cards.facts(
            [
                ("Peak memory", words.size(result.peak_rss_bytes), "when it was stopped"),
                ("Phase", escape.markdown(result.phase or "unknown"), f"after {words.duration(result.wall_s)}"),
                (
                    "Largest tensor expected" if report.tensor_from == "expected" else "Tensor that did not fit",
                    words.shape(report.tensor_shape) if report.tensor_shape else "not known",
                    escape.markdown(report.operator, 80),
                ),
                ("What would fit", *_fits(estimate, batch)),
            ]
        )
        _memory(result, partial_of(result, Prediction))
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


def what_ran_out(report: ShortageReport, phase: str, batch: int, limit: int) -> str:
    """In a sentence, whose memory ran out and in doing what; the limit in bytes, 0 when it is not known."""
    if report.mechanism == "host":
        return "The machine itself ran out of memory; this run was within its limit, but held the most."
    if report.mechanism == "kill":
        return "The process was ended from outside, as happens when the machine runs out of memory."
    of = f" of {words.size(limit)}" if limit else ""
    if phase in shortage.LOADING:
        return f"Already loading the model needs more than the limit{of}."
    if phase in shortage.TRACING:
        return f"Already the first call, with as few rows as the model takes, needs more than the limit{of}."
    if phase in shortage.JOINING:
        return f"Every batch fits; their outputs together need more than the limit{of}."
    return f"A batch of {words.count(batch)} needs more than the limit{of}."


def _estimate(report: ShortageReport, batch: int) -> BatchInterval | None:
    """The estimate of the largest batch; None when this very run has refuted it."""
    fits = report.largest_batch_estimate
    return fits if fits and fits.low < batch else None


def _without_refuted_advice(reason: str, report: ShortageReport, estimate: BatchInterval | None) -> str:
    refuted = None if estimate else report.largest_batch_estimate
    return reason.replace(f" A batch of {refuted.low:,} is estimated to fit.", "") if refuted else reason


def _failed_batches(state: JobState, limit: int) -> set[int]:
    """Batches of this model that ran out of memory at this limit or a higher one."""
    failed = set()
    for other in engine().jobs(entry_id=state.entry_id):
        result = other.result
        if other.kind == "predict" and result is not None and result.status is Status.OUT_OF_MEMORY:
            report = shortage_of(result)
            batch = (report and report.batch_size) or other.params.get("batch_size")
            if batch and _limit(result) >= limit:
                failed.add(int(batch))
    return failed


def next_batch(batch: int, fits: int, failed: Collection[int]) -> int:
    """The batch size to offer after `batch` ran out of memory: what is estimated to fit, never one that failed; 0 for none."""
    offer = fits if 0 < fits < batch else batch // 2
    least = min(failed, default=batch)
    return min(offer, least // 2) if offer >= least else offer


def _fits(estimate: BatchInterval | None, batch: int) -> tuple[str, str]:
    if not estimate or not estimate.high:
        return "not known", f"less than {words.count(batch)}, which was tried" if batch > 1 else "not even one row"
    low, high = estimate.low, min(estimate.high, max(1, batch - 1))
    if not low:
        return "no whole row", "estimated from small batches"
    span = f"batch {words.count(low)}" if low == high else f"{words.count(low)} to {words.count(high)}"
    return f"batch {words.count(low)}", f"estimated: {span}"


def _smaller(batch: int) -> None:
    st.session_state["batch"] = batch
    st.session_state["_run_now"] = True


def _how(known: Prediction | None, code: str, command: str) -> None:
    with st.expander("How this was done, and how to do it yourself"):
        given = ", ".join(
            f"{escape.code(name)} {words.shape(fed.shape)} {escape.markdown(fed.dtype)} ({escape.markdown(fed.source)})"
            for name, fed in (known.input if known else {}).items()
        )
        st.markdown(
            f"The model was opened in a contained process of its own. Input: {given or 'not recorded'}. Small batches were measured first to predict "
            "the peak; then the memory limit was set and the batches were run. Peak memory is what the run added to its process."
        )
        st.markdown("**Python**")
        st.code(code, language="python", wrap_lines=False)
        st.markdown("**Command line**")
        st.code(command, language="bash", wrap_lines=True)
