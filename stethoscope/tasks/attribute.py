"""Why this prediction: how much each part of one input speaks for one score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from stethoscope.activations.attributions import all_methods
from stethoscope.activations.attributions.baselines import Explained, as_plain, baseline, explained_row, kind_of
from stethoscope.activations.attributions.gradients import channels_first, default_layer
from stethoscope.activations.attributions.method import Attribution, Method, Question, Subject
from stethoscope.activations.attributions.subjects import WholeSubject, real_outputs, subject_of, without_rows
from stethoscope.activations.attributions.target import Target, choose
from stethoscope.data.batching import Batching
from stethoscope.errors import BadSetting, CannotRun
from stethoscope.models.formats import format_of
from stethoscope.task import TaskContext
from stethoscope.types import Architecture, Feed

_MOST_UNITS = 1_000
_SIDE_INPUTS = ("mask", "segment", "token_type", "position")
"""Inputs of these names say how to read another one."""
_OPTIONS = ("steps", "most_steps", "tolerance", "zero_vector", "patch", "stride", "layer", "samples", "seed")


@dataclass(frozen=True)
class Explanation:
    """How much each part of one input speaks for one score. Names are hostile."""

    method: str
    title: str
    about: str
    source: str
    """Of the method."""
    input: str
    output: str
    output_shape: tuple[int, ...]
    target: int
    target_name: str
    """Of the class; "" where the data names none."""
    is_top: bool
    """Whether that is the highest output."""
    position: tuple[int, ...]
    score_of: Literal["raw", "output"]
    """"raw" is before the last softmax or sigmoid."""
    score: float
    probability: float
    """The output itself."""
    outputs: tuple[float, ...]
    """Of the first units, averaged over positions."""
    baseline: str
    baseline_score: float | None
    completeness_error: float | None
    """Share of the score that the attributions do not add up to."""
    sum: float
    steps: int | None
    layer: str
    signed: bool
    kind: str
    """Of the input: "image", "tokens", "sequence", …"""
    channel_axis: int | None
    shape: tuple[int, ...]
    file: str
    """attribution.npy, float32, in the job's outputs."""
    input_file: str
    """input.npy: the row as fed."""
    place: int
    input_source: str
    notes: tuple[str, ...] = ()
    tokens: tuple[str, ...] = ()
    """Their numbers, of an input of tokens."""


class Attribute:
    """files: "model", "data" (optional: else random input).

    params: {"method", "place", "input", "output", "target": class number or "top", "position", "score": "raw" or
    "output", "layer", "steps", "tolerance", "baseline", "patch", "stride", "seed", "preparation", "data_options", "trusted"}.
    """

    kind = "attribute"
    answer = Explanation

    def run(self, context: TaskContext) -> Explanation:
        """Predicts the row and explains one score of it."""
        params = context.params
        method = _method(str(params.get("method") or "integrated_gradients"))
        seed = int(params.get("seed") or 0)
        architecture, opened = context.open_model()
        with opened as runner:
            context.report("read", message="reading the sample")
            row = explained_row(context, architecture, runner, max(0, int(params.get("place") or 0)), seed)
            name = _input(params.get("input"), row.feed, context.files["model"].name)
            subject = subject_of(context.files["model"].name, runner, architecture)
            if method.needs_gradients and subject.no_gradients:
                raise CannotRun(f"{subject.name}: {subject.no_gradients} Occlusion works for any model.")
            context.report("predict", message="predicting the sample")
            fixed = Batching.of(runner.inputs)
            outputs = _first(real_outputs(runner.predict(fixed.take(row.feed, fixed.fixed or 1)), architecture))
            if bare := without_rows(runner.inputs):
                subject = WholeSubject(subject, bare)
                row = replace(row, feed=subject.with_rows(row.feed))
            target, shape, top = choose(outputs, params, subject.name)
            quantised = format_of(architecture).ends(context.files["model"]).inputs
            zero = float(quantised.get(name, (1.0, 0))[1])
            question, said = _question(params, architecture, row, name, target, seed, zero)
            if question.kind not in method.kinds:
                raise CannotRun(
                    f"{method.title}: expected {' or '.join(method.kinds)}, got {question.kind}. Choose another method."
                )
            context.report("explain", 0.0, method.title)

            def report(fraction: float, message: str) -> None:
                context.report("explain", fraction, f"{method.title}: {message}" if message else method.title)

            found = method.explain(subject, question, report)
            return _answer(context, method, question, row, outputs, found, (shape, top, said), subject)


def _method(name: str) -> Method:
    methods = all_methods()
    if name not in methods:
        raise BadSetting(f"Method {name!r}: expected one of {', '.join(methods)}, got another. Choose one of these.")
    return methods[name]


def _input(asked: Any, feed: Feed, model: str) -> str:
    numbers = [name for name, array in feed.items() if array.dtype.kind in "fiub"]
    if not feed:
        raise CannotRun(f"{model}: expected a model with inputs, got one without: nothing explains what it puts out.")
    if not numbers:
        raise CannotRun(f"{model}: expected an input of numbers, got text only. Attributions need numbers.")
    if asked and asked not in numbers:
        raise BadSetting(
            f"Input {asked!r} of {model}: expected one of {numbers[:20]}, got another. Choose one of these."
        )
    if asked:
        return str(asked)
    telling = [name for name in numbers if not any(word in name.lower() for word in _SIDE_INPUTS)]
    return (telling or numbers)[0]


def _first(outputs: Feed) -> Feed:
    return {name: array[:1] if array.ndim else array.reshape(1) for name, array in outputs.items()}


def _question(
    params: Mapping[str, Any],
    architecture: Architecture,
    row: Explained,
    name: str,
    target: Target,
    seed: int,
    zero: float,
) -> tuple[Question, str]:
    given = row.feed[name]
    kind, channel_axis = kind_of(name, given, architecture)
    made, chosen, said = baseline(
        str(params.get("baseline") or ""), given, kind, channel_axis, row.reference.get(name), seed, zero
    )
    options: dict[str, Any] = {key: params[key] for key in _OPTIONS if params.get(key) is not None}
    known = {layer.path: layer for layer in architecture.layers}
    layer = known.get(str(options["layer"]).partition("#")[0]) if options.get("layer") else default_layer(architecture)
    if layer is not None:
        options["layer"] = options.get("layer") or layer.path
        options["layer_channels"] = "first" if channels_first(layer) else "last"
    return Question(row.feed, target, name, kind, channel_axis, made, chosen, options), said


def _answer(
    context: TaskContext,
    method: Method,
    question: Question,
    row: Explained,
    outputs: Feed,
    found: Attribution,
    about: tuple[tuple[int, ...], bool, str],
    subject: Subject,
) -> Explanation:
    shape, top, said = about
    context.report("save", 1.0, "saving the attribution")
    values = found.values
    fed = as_plain(question.row[0])
    notes = [*found.notes, *([said] if said and found.baseline_score is not None else [])]
    if not np.isfinite(values).all():
        notes.append("Some attributions are not numbers: the gradient overflows or divides by zero on the way.")
    if found.raw:
        notes.append("The score is taken before the last softmax or sigmoid, where it does not saturate.")
    tokens = [str(token.item()) for token in fed.reshape(-1)[:4_096]] if question.kind == "tokens" else []
    return Explanation(
        method=method.id,
        title=method.title,
        about=method.about,
        source=method.source,
        input=question.name,
        output=question.target.output,
        output_shape=tuple(shape),
        target=question.target.unit,
        target_name=row.classes[question.target.unit] if shape and shape[-1] == len(row.classes) else "",
        is_top=top,
        position=tuple(question.target.position),
        score_of="raw" if found.raw else "output",
        score=found.score,
        probability=float(question.target.of_arrays(outputs)[0]),
        outputs=_units(outputs[question.target.output]),
        baseline=question.baseline_id,
        baseline_score=found.baseline_score,
        completeness_error=found.completeness_error,
        sum=float(np.nansum(values)),
        steps=found.steps,
        layer=found.layer,
        signed=found.signed,
        kind=question.kind,
        channel_axis=question.channel_axis,
        shape=tuple(values.shape),
        file=context.save("attribution", values.astype(np.float32)),
        input_file=context.save("input", fed),
        place=row.place,
        input_source=row.source,
        notes=tuple(notes),
        tokens=tuple(tokens),
    )


def _units(output: Any) -> tuple[float, ...]:
    """The output of the row for each unit, averaged over positions; at most `_MOST_UNITS`."""
    array = np.asarray(output, np.float64)
    row = array.reshape(-1) if array.ndim < 2 else array[0].reshape(-1, array.shape[-1]).mean(axis=0)
    return tuple(float(value) for value in row[:_MOST_UNITS])


TASK = Attribute()
