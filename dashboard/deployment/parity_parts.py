"""The answer of one comparison: the verdict, the outputs, where two models part and why, and how it was found out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from dashboard import escape, figures, recipes, render, words
from dashboard.data import data_use
from dashboard.deployment import (
    parity_edges,
    parity_figures,
    parity_layers,
    parity_parting,
    parity_rows,
    parity_scores,
    parity_ways,
)
from dashboard.deployment.parity_layers import LayerPair
from dashboard.kept_answers import kept
from dashboard.session import View
from stethoscope.codec import partial_of
from stethoscope.compare.parity.comparison import Comparison, OutputPair, Verdict
from stethoscope.compare.parity.precision import as_text
from stethoscope.jobs.protocol import JobState
from stethoscope.types import Architecture, JobResult, Status

_VERDICTS: Mapping[Verdict, tuple[render.Tone, str]] = {
    "equal": ("good", "Equal"),
    "within_tolerance": ("good", "Within tolerance"),
    "different": ("bad", "Different"),
}
_MATCHED = {"name": "by name", "structure": "by structure", "values": "by their values"}


@dataclass(frozen=True)
class Compared:
    """Two models by what their files are called. Hostile."""

    a: str
    b: str
    architecture: Architecture
    """Of the first."""


def answer(state: JobState, view: View, names: Compared) -> None:
    """Everything about a comparison that ended."""
    assert state.result is not None
    compared = _comparison(state.result)
    if state.result.status is not Status.OK:
        render.ending(state)
    if compared is None:
        return
    if state.result.status is not Status.OK:
        st.caption("What was found before the run ended:")
    render.verdict(*verdict(compared))
    if compared.source == "dummy":
        st.caption("Compared on random input. With rows of your own the differences say what they mean for your task.")
    parity_scores.show(compared, names.a, names.b)
    found = _pairs(compared, names.architecture)
    if compared.first_divergence is not None:
        parity_parting.card(compared.first_divergence, found, names.architecture)
    if found:
        _by_depth(found, compared)
    for note in compared.notes[:6]:
        st.info(escape.sentences(words.readable(note)))
    st.markdown("**Outputs on the same rows**")
    st.dataframe(
        outputs_table(compared.outputs), hide_index=True, height="content" if len(compared.outputs) <= 8 else 320
    )
    parity_edges.show(compared.edges)
    parity_rows.show(compared.worst_rows, state, view, names.a, names.b)
    _quantised(parity_layers.quantised(found))
    if found:
        _layers(found, names)
    _how(state, compared, names)


@kept
def _comparison(result: JobResult) -> Comparison | None:
    return partial_of(result, Comparison)


@kept
def _pairs(compared: Comparison, architecture: Architecture) -> list[LayerPair]:
    return parity_layers.pairs(compared, architecture)


def verdict(compared: Comparison) -> tuple[render.Tone, str, str]:
    """(tone, badge, sentence) of a comparison; why they part stands in a card of its own."""
    tone, label = _VERDICTS[compared.verdict]
    if not compared.sentence:
        return tone, label, "The layers were not compared; the outputs were."
    sentence = compared.sentence if compared.first_divergence is None else compared.summary
    return tone, label, escape.sentences(parity_parting.percent(words.readable(sentence)))


def _by_depth(found: Sequence[LayerPair], compared: Comparison) -> None:
    shown = [one for one in found if not one.merged]
    if not shown:
        return
    st.markdown("**How far the layers are apart, from input to output**")
    st.plotly_chart(
        parity_figures.by_depth(found, compared.tolerance.nrmse),
        config=figures.CONFIG,
        key="parity-depth",
        alt="Difference of each layer as a share of its values, on a logarithmic scale",
    )
    merged, drawn = len(found) - len(shown), {one.a for one in found}
    unmatched = [one for one in compared.unmatched.a if one not in drawn]
    said = []
    if any(not (one.same or one.parted or one.follows) for one in shown):
        said.append("Orange: off by more than what goes in explains.")
    if merged:
        said.append(
            f"{words.plural(merged, 'layer')} of the first {'has' if merged == 1 else 'have'} no answer of {'its' if merged == 1 else 'their'} "
            "own in the other model, which computes them together with a neighbour."
        )
    if unmatched:
        said.append(f"No counterpart: {parity_parting.listed(unmatched)}.")
    said.append(f"Compared on {words.plural(compared.layer_rows, 'row')}.")
    st.caption(" ".join(said))


def outputs_table(outputs: Sequence[OutputPair]) -> dict[str, list[str]]:
    """One row for each output: both names, and how far they are apart in the output's own unit and as a share."""
    return {
        "Output": [escape.clip(one.a) for one in outputs],
        "In the other": [escape.clip(one.b) for one in outputs],
        "Shape": [" × ".join(f"{size:,}" for size in one.shape) or "scalar" for one in outputs],
        "Within tolerance": ["yes" if one.within else "no" for one in outputs],
        "Largest difference": [_difference(one.max_abs_diff) for one in outputs],
        "Mean difference": [_difference(one.mean_abs_diff) for one in outputs],
        "Share of the values": [_difference(one.nrmse) for one in outputs],
        "Cosine": [_number(one.cosine, 7) for one in outputs],
        "Same class": [_share(one.top1_agreement) for one in outputs],
        "Same five best": [_share(one.top5_agreement) for one in outputs],
        "Orientation": [one.orientation or "as it is" for one in outputs],
    }


def _difference(value: float | None) -> str:
    return "no number" if value is None else words.difference(value)


def _number(value: float | None, digits: int) -> str:
    return "—" if value is None else words.significant(value, digits)


def _share(value: float | None) -> str:
    return "—" if value is None else words.share(value, 1)


def _range(ends: tuple[float, float] | None) -> str:
    return "—" if ends is None else f"{_number(ends[0], 3)} to {_number(ends[1], 3)}"


def _quantised(found: Sequence[LayerPair]) -> None:
    if not found:
        return
    worst = sorted(found, key=lambda one: 1e9 if one.sqnr_db is None else one.sqnr_db)
    st.markdown("**Layers kept as integers, the noisiest first**")
    st.dataframe(
        {
            "Layer": [escape.clip(one.a) for one in worst],
            "Signal to noise": ["identical" if one.sqnr_db is None else f"{one.sqnr_db:.1f} dB" for one in worst],
            "Clipped": [_share(one.clipped) for one in worst],
            "Range": [_range(one.range) for one in worst],
            "Step": [_number(one.step, 3) for one in worst],
        },
        hide_index=True,
        height="content" if len(worst) <= 10 else 400,
    )
    st.caption(
        "Clipped: the share of the first model's values that lie outside of what the integers reach. Values beyond the range of a "
        "last activation (a softmax that ends at 0.996) are clipped by less than a step."
    )


def _layers(found: Sequence[LayerPair], names: Compared) -> None:
    with st.expander(f"All layers ({len(found):,})"):
        st.dataframe(
            {
                "Layer": [escape.clip(one.key) for one in found],
                "In the other": [escape.clip(one.b) for one in found],
                "Matched": [_MATCHED[one.how] for one in found],
                "Difference, share of its values": [
                    "computed with a neighbour"
                    if one.merged
                    else "no number"
                    if one.nrmse is None
                    else words.difference(one.nrmse)
                    for one in found
                ],
                "Largest difference": ["—" if one.merged else _number(one.max_abs, 3) for one in found],
                "Explained": [_explained(one) for one in found],
                "Orientation": [one.orientation or "as it is" for one in found],
            },
            hide_index=True,
            height="content" if len(found) <= 12 else 420,
        )
        st.download_button(
            "CSV of all layers",
            parity_layers.as_csv(found),
            f"{escape.file_name(names.a)}.parity.csv",
            "text/csv",
            key="parity-csv",
            on_click="ignore",
        )


def _explained(one: LayerPair) -> str:
    if one.merged:
        return "—"
    return "they part here" if one.parted else "yes" if one.same else "behind where they part" if one.follows else "no"


def _how(state: JobState, compared: Comparison, names: Compared) -> None:
    with st.expander("What counts as the same, how this was done, and how to do it yourself"):
        limits, precision = compared.tolerance, compared.precision
        st.markdown(
            f"{escape.code(names.a)} is taken to be right; it computes in {escape.markdown(precision.a)}, {escape.code(names.b)} in "
            f"{escape.markdown(precision.b)}. Of the coarser of both, an output may be off by {words.given(limits.nrmse)} of its "
            "values (root mean square)"
            + (
                f", and the class must be the same in {words.share(limits.top1, 1)} of the rows"
                if limits.top1 is not None
                else ""
            )
            + f". A single layer may be off by {words.given(limits.floor)}, or by what went into it explains."
        )
        source = "random input" if compared.source == "dummy" else escape.code(compared.source)
        st.markdown(
            f"Both models got the same {words.plural(compared.rows, 'row')} of {source}, each in a contained process "
            "of its own. Every layer's output was kept for the first rows; layers were matched by name, then by structure, then by "
            "their values, also where one model has channels first and the other last. Integers were turned into the real numbers they "
            "stand for. Where the models part, each usual cause was tried on the layer's own input."
        )
        for way, name in ((compared.ways.a, names.a), (compared.ways.b, names.b)):
            if way.said:
                st.caption(f"{escape.code(name)}: {escape.sentences(' '.join(way.said))}")
        for one in compared.inputs:
            if one.orientation or one.a != one.b:
                turned = f", {escape.markdown(one.orientation)}" if one.orientation else ""
                st.caption(f"Input {escape.code(one.a)} went into {escape.code(one.b)}{turned}.")
        if state.result is not None:
            st.caption(
                f"Took {words.duration(state.result.wall_s)}{', kept from before' if state.cached else ''} · peak memory "
                f"{words.size(state.result.peak_rss_bytes)}"
            )
        st.markdown("**Command line**")
        st.code(command(state, names), language="bash", wrap_lines=True)


def command(state: JobState, names: Compared) -> str:
    """The `stethoscope compare` that does the same."""
    compared = None if state.result is None else _comparison(state.result)
    settings = parity_ways.settings_of(str(state.params.get("other_id") or ""))
    return recipes.command_line(
        "compare",
        names.a,
        {
            "way": None if settings is None else as_text(settings),
            "data": compared.source if compared is not None and compared.source != "dummy" else None,
            **data_use.command_options(state.params),
            "rows": state.params.get("rows"),
            "batch-size": state.params.get("batch_size"),
            "seed": state.params.get("seed") or None,
            "no-layers": True if state.params.get("layers") is False else None,
            "no-edges": True if state.params.get("edges") is False else None,
        },
        *(() if settings is not None else (names.b,)),
    )
