"""The answer of one conversion: whether its runtime ran it, how far it is off, what it gained, and the file."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard import cards, escape, figures, recipes, render, words
from dashboard.data import data_use
from dashboard.deployment import convert_figures, convert_kept, convert_targets
from dashboard.session import View
from stethoscope.codec import answer_of, partial_of
from stethoscope.compare.convert import all_converters
from stethoscope.compare.convert.converter import Options
from stethoscope.compare.convert.made_file import OutputDifference
from stethoscope.jobs.protocol import JobState
from stethoscope.tasks.convert import Conversion, OperatorsOfBoth

_NOISY_DB = 20.0
"""Signal to noise below which a difference is a tenth of the output or more."""
_MOST_NOTES = 6


def answer(state: JobState, view: View) -> None:
    """Everything about a conversion that succeeded."""
    assert state.result is not None and view.entry is not None
    made = answer_of(state.result, Conversion)
    render.verdict(*verdict(made))
    if made.source == "dummy":
        st.caption("Compared on random input. With rows of your own the differences say what they mean for your task.")
    convert_kept.actions(state, made, view)
    _pictures(made)
    for note in made.notes[:_MOST_NOTES]:
        st.info(escape.sentences(words.readable(note)))
    st.markdown("**Outputs, source and target on the same rows**")
    st.dataframe(outputs_table(made.outputs), hide_index=True, height="content" if len(made.outputs) <= 8 else 320)
    _operators(made.operators)
    _how(state, made, view.entry.name)


def verdict(made: Conversion) -> tuple[render.Tone, str, str]:
    """(tone, label, sentence) of a conversion that succeeded."""
    runtime = convert_targets.runtime(made.target)
    quiet = all(output.sqnr_db is None or output.sqnr_db >= _NOISY_DB for output in made.outputs)
    tone: render.Tone = (
        "good" if made.max_abs_diff is not None and quiet and made.top1_agreement in (None, 1) else "careful"
    )
    return tone, "Converted", f"{runtime} ran it on {words.plural(made.rows, 'row')}; {off_by(made)}{_classes(made)}."


def off_by(made: Conversion) -> str:
    """How far the target is off, in a few words."""
    if made.max_abs_diff is None:
        return "outputs that are no numbers differ"
    if made.max_abs_diff == 0:
        return "its outputs are identical"
    return f"largest difference {words.difference(made.max_abs_diff)}"


def _classes(made: Conversion) -> str:
    same = made.top1_agreement
    if same is None or made.max_abs_diff == 0:
        return ""
    return ", same class in all rows" if same == 1 else f", same class in {words.share(same, 1)} of {made.rows:,} rows"


def _pictures(made: Conversion) -> None:
    times, peaks, rows = made.time_s, made.estimated_peak_bytes, max(1, made.time_s.rows)
    runtime = convert_targets.runtime(made.target)
    measures = (
        ("Size", made.source_size_bytes, made.size_bytes, words.size),
        ("Time for a row", times.before / rows, times.after / rows, words.duration),
        (f"Memory for {words.plural(rows, 'row')} (estimated)", peaks.before, peaks.after, words.size),
    )
    drawn = [(label, a, b, say) for label, a, b, say in measures if a is not None and b is not None]
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


def outputs_table(outputs: Sequence[OutputDifference]) -> dict[str, list[str]]:
    """One row for each output: its names, and how far both are apart."""
    return {
        "Output": [escape.clip(one.name) for one in outputs],
        "In the new file": [escape.clip(one.in_target) for one in outputs],
        "Shape": [" × ".join(f"{size:,}" for size in one.shape) or "scalar" for one in outputs],
        "Largest difference": [words.difference(one.max_abs_diff) for one in outputs],
        "Mean difference": [words.difference(one.mean_abs_diff) for one in outputs],
        "Cosine": ["—" if one.cosine is None else words.significant(one.cosine, 7) for one in outputs],
        "Signal to noise": ["—" if one.sqnr_db is None else f"{one.sqnr_db:.0f} dB" for one in outputs],
        "Same class": ["—" if one.top1_agreement is None else words.share(one.top1_agreement, 1) for one in outputs],
    }


def _operators(operators: OperatorsOfBoth) -> None:
    counts = [words.count(sum(side.values())) for side in (operators.before, operators.after)]
    with st.expander(f"Operators: {counts[0]} before, {counts[1]} after"):
        sides = st.grid(2, min_column_width=260, gap=("small", "medium"))
        for label, side in (("Before", operators.before), ("After", operators.after)):
            with sides.cell():
                kinds = sorted(side.items(), key=lambda item: (-item[1], item[0]))
                st.dataframe(
                    {label: [escape.clip(kind, 60) for kind, _ in kinds], "Number": [count for _, count in kinds]},
                    hide_index=True,
                    height="content" if len(kinds) <= 12 else 400,
                )


def _how(state: JobState, made: Conversion, name: str) -> None:
    rows = words.plural(made.rows, "row")
    source = "random input" if made.source == "dummy" else escape.code(made.source)
    with st.expander("How this was done, and how to do it yourself"):
        st.markdown(
            f"Converted in a contained process of its own, then the file was loaded by its own runtime and fed {rows} of {source}, as "
            "the source was. Times are medians of a few calls, with the default number of threads. Memory is estimated for each by "
            "itself: the process that measured it held both. Quantised inputs and outputs are compared as the real numbers they stand for."
        )
        cards.facts(
            [
                ("Conversion took", words.duration(made.convert_s), "without loading"),
                ("Memory of it", words.size(made.convert_peak_bytes), "at its peak"),
                (
                    "Memory while comparing",
                    words.size(made.peak_bytes.after or 0),
                    f"measured; {words.size(made.peak_bytes.before or 0)} with the source alone",
                ),
                (
                    "Whole run",
                    words.duration(state.result.wall_s if state.result else 0),
                    "kept from before" if state.cached else "with loading",
                ),
            ]
        )
        st.markdown("**Python**, the plain way")
        st.code(made.code, language="python", wrap_lines=True)
        st.markdown("**Command line**")
        st.code(command(state, name), language="bash", wrap_lines=True)


def command(state: JobState, name: str) -> str:
    """The `stethoscope convert` that does the same."""
    params, plain = state.params, Options().to_json()
    target = str(params.get("target"))
    chosen = {key: one for key, one in (params.get("options") or {}).items() if one != plain.get(key)}
    made = None if state.result is None else partial_of(state.result, Conversion)
    stem = name.split(".", maxsplit=1)[0] or "model"
    converter = all_converters().get(target)
    ending = "" if converter is None else converter.suffix or f"_{target}"
    return recipes.command_line(
        "convert",
        name,
        {
            "to": target,
            "out": f"{stem}{ending}",
            "data": made.source if made is not None and made.source != "dummy" else None,
            **data_use.command_options(params),
            **{key.replace("_", "-"): one for key, one in chosen.items() if one},
            "rows": params.get("rows"),
            "seed": params.get("seed") or None,
        },
    )
