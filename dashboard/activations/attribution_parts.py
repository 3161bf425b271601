"""Attribution: which parts of the sample a prediction rests on, by a method the visitor chooses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import streamlit as st

from dashboard import asking, cards, escape, figures, outputs, words
from dashboard.activations import activation_figures, attribution_inputs, attribution_view
from dashboard.activations.activation_input import Input
from stethoscope.codec import answer_of
from stethoscope.data.preprocessing.preparation import Preparation
from stethoscope.tasks.attribute import Explanation
from stethoscope.types import JobResult

Array = npt.NDArray[Any]
_COMPLETE = 0.01


def show(given: Input, layers: Sequence[str]) -> None:
    """The view Attribution of the page Activations."""
    assert given.view.entry is not None
    params = attribution_inputs.settings(given, layers)
    if params is None:
        return
    job = given.job("attribute", {**params, "place": given.places[0]})
    result = asking.answer(job, given.view, given.view.entry.name, slot="attribute")
    if result is not None:
        _answer(given, result)


def _answer(given: Input, result: JobResult) -> None:
    explanation = answer_of(result, Explanation)
    path, fed_path = (result.files.get(name) for name in (explanation.file, explanation.input_file))
    values = None if path is None else outputs.load(path)
    fed = None if fed_path is None else outputs.load(fed_path)
    if values is None or fed is None:
        st.caption("This run left no attributions. Ask again.")
        return
    _facts(given, explanation)
    backwards = given.data is not None and fed_in_bgr(given.data.preparation, explanation.input)
    draw(explanation, np.asarray(values, np.float64), np.asarray(fed), given.columns, bgr=backwards, key="attribution")
    for note in explanation.notes:
        st.caption(escape.sentences(note))
    _how(explanation)


def fed_in_bgr(preparation: Preparation, name: str) -> bool:
    """Whether the steps turn the colours of an input around; a step names the data's array, which may be called otherwise."""
    turns = [
        step
        for step in preparation.steps
        if step.params.get("mode") == {"imagenet": "caffe", "channels": "rgb_to_bgr"}.get(step.kind, "")
    ]
    own = [step for step in turns if step.of == name]
    return len(own or turns) % 2 == 1


def draw(
    explanation: Explanation, values: Array, fed: Array, columns: Sequence[str] = (), *, bgr: bool = False, key: str
) -> None:
    """Attributions over what they are of.

    Args:
        explanation: the answer of the task `attribute`.
        values: attributions, as the task left them.
        fed: the row of the explained input as it was fed.
        columns: names of its features, where they have any; hostile text.
        bgr: whether a picture was fed with its colours in the order blue, green, red.
        key: of the widget.
    """
    kind, signed, axis = explanation.kind, explanation.signed, explanation.channel_axis
    if not np.isfinite(values).any():
        st.caption("None of the attributions is a number.")
    elif kind == "image":
        heat = values.sum(axis=axis) if axis is not None and values.ndim == 3 else values
        flat = heat if heat.ndim == 2 else heat.reshape(heat.shape[0], -1)
        coarse = flat.size < 0.25 * fed.size
        picture = as_picture(fed, axis)
        attribution_view.over_picture(
            picture[..., ::-1] if bgr else picture, flat, signed=signed, smooth=coarse, key=key
        )
    elif kind == "tokens" and values.ndim == 1:
        tokens = explanation.tokens or tuple(map(str, range(len(values))))
        if len(tokens) == len(values):
            attribution_view.over_tokens(tokens, values, signed=signed, key=key)
            st.caption("Tokens are shown by their numbers: the model's file does not say which words they stand for.")
        else:
            _line(values, "position", key)
    elif kind == "sequence" and values.ndim == 2:
        figure = activation_figures.matrix(
            values.T,
            down="channel",
            across="time step",
            value="attribution",
            around_zero=signed,
            height=min(560, max(240, 120 + 14 * values.shape[1])),
        )
        st.plotly_chart(figure, config=figures.CONFIG, key=key, alt="Attribution over time and channels")
        _line(values.sum(axis=1), "time step", f"{key}-line")
    elif values.ndim == 1 and kind == "sequence":
        _line(values, "time step", key)
    else:
        flat = values.reshape(-1)
        names = (
            columns if len(columns) == flat.size else [f"{explanation.input} [{place}]" for place in range(flat.size)]
        )
        told = [
            f"{one} = {words.significant(float(number))}"
            for one, number in zip(names, fed.reshape(-1)[: flat.size], strict=False)
        ]
        st.plotly_chart(
            activation_figures.bars(told, flat, value="Attribution (above 0 speaks for the score)"),
            config=figures.CONFIG,
            key=key,
            alt="The features with the largest attributions",
        )
        if flat.size > 30:
            st.caption(f"The 30 largest of {words.count(flat.size)}.")


def as_picture(fed: Array, channel_axis: int | None) -> npt.NDArray[np.uint8]:
    """What was fed as (height, width, 3) uint8, from its lowest value (black) to its highest."""
    values = np.asarray(fed, np.float64)
    values = values[..., None] if channel_axis is None else np.moveaxis(values, channel_axis, -1)
    if values.shape[-1] not in (1, 3, 4):
        values = values.mean(axis=-1, keepdims=True)
    values = values[..., :3] if values.shape[-1] == 4 else values
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    shares = (np.nan_to_num(values, nan=low, posinf=high, neginf=low) - low) / ((high - low) or 1.0)
    made = np.round(255 * np.clip(shares, 0, 1)).astype(np.uint8)
    return np.repeat(made, 3, axis=-1) if made.shape[-1] == 1 else made


def _line(values: Array, across: str, key: str) -> None:
    figure = activation_figures.units({"attribution": values}, across=across, height=240)
    figure.update_yaxes(title_text="Attribution", zeroline=True, zerolinecolor=figures.GREY)
    st.plotly_chart(figure, config=figures.CONFIG, key=key, alt=f"Attribution of each {across}")


def _facts(given: Input, explanation: Explanation) -> None:
    unit, shape = explanation.target, explanation.output_shape
    several = bool(shape) and shape[-1] > 1
    about = escape.markdown(given.called(explanation.place))
    told = [
        (
            "Explained",
            _explained(explanation, unit) if several else "the output",
            ("the highest, " if explanation.is_top and several else "") + about,
        ),
        ("Output", _number(explanation.probability), escape.markdown(explanation.output, 40)),
    ]
    if explanation.score_of == "raw":
        told.append(("Score explained", _number(explanation.score), "before the last softmax or sigmoid"))
    if explanation.baseline_score is not None:
        told.append(("Score of the baseline", _number(explanation.baseline_score), f"baseline: {explanation.baseline}"))
    missing = explanation.completeness_error
    if missing is not None:
        told.append(
            (
                "Completeness",
                f"{100 * missing:.2g} % missing",
                f"{words.count(explanation.steps or 0)} steps"
                + ("" if missing <= _COMPLETE else ", more than 1 %: take it with care"),
            )
        )
    cards.facts(told)


def _explained(explanation: Explanation, unit: int) -> str:
    name = escape.markdown(explanation.target_name, 40)
    return f"{_noun(explanation)} {words.count(unit)}" + (f", {name}" if name else "")


def _noun(explanation: Explanation) -> str:
    """What a unit of the output is: a class where the units share out 1."""
    units = explanation.outputs
    shared = bool(units) and min(units) >= 0 and abs(sum(units) - 1) < 1e-3
    return "class" if shared else "unit"


def _number(value: float | None) -> str:
    return "—" if value is None else words.significant(value)


def _how(explanation: Explanation) -> None:
    with st.expander("What this shows, and what it does not"):
        st.markdown(escape.sentences(explanation.about))
        st.markdown(
            "Attributions explain the model, not the world: they say which parts of this input the score rests on, and nothing about "
            "whether it is right to. Methods answer different questions and may disagree."
        )
        st.caption(f"Source: {escape.markdown(explanation.source or '', 300)}")
