"""The answer of one conversion: whether its runtime ran it, how far it is off, what it gained, and the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import cards, escape, figures, recipes, render, words
from dashboard.data import data_use
from dashboard.deployment import convert_figures, convert_kept, convert_targets
from dashboard.session import View
from stethoscope.convert.options import Options
from stethoscope.jobs.state import JobState

_NOISY_DB = 20.0
"""Signal to noise below which a difference is a tenth of the output or more."""
_MOST_NOTES = 6


def answer(state: JobState, view: View) -> None:
    """Everything about a conversion that succeeded."""
    assert state.result is not None and view.entry is not None
    value = state.result.value
    render.verdict(*verdict(value))
    if value.get("source") == "dummy":
        st.caption("Compared on random input. With rows of your own the differences say what they mean for your task.")
    convert_kept.actions(state, view)
    _pictures(value)
    for note in list(value.get("notes") or ())[:_MOST_NOTES]:
        st.info(escape.sentences(words.readable(str(note))))
    outputs = list(value.get("outputs") or ())
    if outputs:
        st.markdown("**Outputs, source and target on the same rows**")
        st.dataframe(outputs_table(outputs), hide_index=True, height="content" if len(outputs) <= 8 else 320)
    _operators(value.get("operators") or {})
    _how(state, value, view.entry.name)


def verdict(value: Mapping[str, Any]) -> tuple[render.Tone, str, str]:
    """(tone, label, sentence) of a conversion that succeeded."""
    runtime = convert_targets.runtime(str(value.get("target")))
    rows = words.plural(int(value.get("rows") or 0), "row")
    same = value.get("top1_agreement")
    quiet = all(float(one.get("sqnr_db") or 99) >= _NOISY_DB for one in value.get("outputs") or ())
    whole = value.get("max_abs_diff") is not None
    tone: render.Tone = "good" if whole and quiet and same in (None, 1, 1.0) else "careful"
    return tone, "Converted", f"{runtime} ran it on {rows}; {off_by(value)}{_classes(value, same)}."


def off_by(value: Mapping[str, Any]) -> str:
    """How far the target is off, in a few words."""
    biggest = value.get("max_abs_diff")
    if biggest is None:
        return "outputs that are no numbers differ"
    return "its outputs are identical" if float(biggest) == 0 else f"largest difference {words.difference(biggest)}"


def _classes(value: Mapping[str, Any], same: Any) -> str:
    if same is None or value.get("max_abs_diff") == 0:
        return ""
    rows = int(value.get("rows") or 0)
    return (
        ", same class in all rows"
        if float(same) == 1
        else f", same class in {words.share(float(same), 1)} of {rows:,} rows"
    )


def _pictures(value: Mapping[str, Any]) -> None:
    rows = max(1, int((value.get("time_s") or {}).get("rows") or value.get("rows") or 1))
    times, peaks = value.get("time_s") or {}, value.get("estimated_peak_bytes") or {}
    runtime = convert_targets.runtime(str(value.get("target")))
    measures = (
        ("Size", value.get("source_size_bytes"), value.get("size_bytes"), words.size),
        ("Time for a row", _each(times.get("before"), rows), _each(times.get("after"), rows), words.duration),
        (f"Memory for {words.plural(rows, 'row')} (estimated)", peaks.get("before"), peaks.get("after"), words.size),
    )
    drawn = [(label, float(a), float(b), say) for label, a, b, say in measures if a is not None and b is not None]
    if not drawn:
        return
    grid = st.grid(len(drawn), min_column_width=260, gap=("small", "medium"))
    for label, before, after, say in drawn:
        with grid.cell(), st.container(gap=None):
            change = convert_figures.change(before, after)
            st.markdown(f"**{label}**" + (f", {change}" if change else ""))
            st.plotly_chart(
                convert_figures.pair(before, after, say, ("before", runtime if label != "Size" else "after")),
                config=figures.CONFIG,
                key=f"pair-{label.split()[0].lower()}",
                alt=f"{label}: {say(before)} before, {say(after)} after",
            )


def _each(seconds: Any, rows: int) -> float | None:
    return None if seconds is None else float(seconds) / rows


def outputs_table(outputs: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """One row for each output: its names, and how far both are apart."""
    return {
        "Output": [escape.clip(one["name"]) for one in outputs],
        "In the new file": [escape.clip(one.get("in_target") or one["name"]) for one in outputs],
        "Shape": [" × ".join(f"{size:,}" for size in one.get("shape") or ()) or "scalar" for one in outputs],
        "Largest difference": [words.difference(one.get("max_abs_diff")) for one in outputs],
        "Mean difference": [words.difference(one.get("mean_abs_diff")) for one in outputs],
        "Cosine": [_number(one.get("cosine"), 7) for one in outputs],
        "Signal to noise": [_decibels(one) for one in outputs],
        "Same class": [_share(one.get("top1_agreement")) for one in outputs],
    }


def _number(value: Any, digits: int) -> str:
    return "—" if value is None else words.significant(float(value), digits)


def _decibels(one: Mapping[str, Any]) -> str:
    value = one.get("sqnr_db")
    return "—" if value is None else f"{float(value):.0f} dB"


def _share(value: Any) -> str:
    return "—" if value is None else words.share(float(value), 1)


def _operators(operators: Mapping[str, Mapping[str, int]]) -> None:
    before, after = operators.get("before") or {}, operators.get("after") or {}
    if not before and not after:
        return
    counts = [words.count(sum(int(one) for one in side.values())) for side in (before, after)]
    with st.expander(f"Operators: {counts[0]} before, {counts[1]} after"):
        sides = st.grid(2, min_column_width=260, gap=("small", "medium"))
        for label, side in (("Before", before), ("After", after)):
            with sides.cell():
                kinds = sorted(side.items(), key=lambda item: (-int(item[1]), item[0]))
                st.dataframe(
                    {label: [escape.clip(kind, 60) for kind, _ in kinds], "Number": [int(count) for _, count in kinds]},
                    hide_index=True,
                    height="content" if len(kinds) <= 12 else 400,
                )


def _how(state: JobState, value: Mapping[str, Any], name: str) -> None:
    rows = words.plural(int(value.get("rows") or 0), "row")
    source = "random input" if value.get("source") == "dummy" else escape.code(value.get("source"))
    with st.expander("How this was done, and how to do it yourself"):
        st.markdown(
            f"Converted in a contained process of its own, then the file was loaded by its own runtime and fed {rows} of {source}, as "
            "the source was. Times are medians of a few calls, with the default number of threads. Memory is estimated for each by "
            "itself: the process that measured it held both. Quantised inputs and outputs are compared as the real numbers they stand for."
        )
        measured = value.get("peak_bytes") or {}
        cards.facts(
            [
                ("Conversion took", words.duration(float(value.get("convert_s") or 0)), "without loading"),
                ("Memory of it", words.size(float(value.get("convert_peak_bytes") or 0)), "at its peak"),
                (
                    "Memory while comparing",
                    words.size(float(measured.get("after") or 0)),
                    f"measured; {words.size(float(measured.get('before') or 0))} with the source alone",
                ),
                (
                    "Whole run",
                    words.duration(state.result.wall_s if state.result else 0),
                    "kept from before" if state.cached else "with loading",
                ),
            ]
        )
        if value.get("code"):
            st.markdown("**Python**, the plain way")
            st.code(str(value["code"]), language="python", wrap_lines=True)
        st.markdown("**Command line**")
        st.code(command(state, name), language="bash", wrap_lines=True)


def command(state: JobState, name: str) -> str:
    """The `stethoscope convert` that does the same."""
    params, plain = state.params, Options().to_json()
    target = str(params.get("target"))
    chosen = {key: one for key, one in (params.get("options") or {}).items() if one != plain.get(key)}
    value = state.result.value if state.result is not None else {}
    source = value.get("source")
    stem = name.split(".", maxsplit=1)[0] or "model"
    ending = {"onnx": ".onnx", "frozen_graph": ".pb", "saved_model": "_saved_model"}.get(target, ".tflite")
    return recipes.command_line(
        "convert",
        name,
        {
            "to": target,
            "out": f"{stem}{ending}",
            "data": source if source != "dummy" else None,
            **data_use.command_options(params),
            **{key.replace("_", "-"): one for key, one in chosen.items() if one},
            "rows": params.get("rows"),
            "seed": params.get("seed") or None,
        },
    )
