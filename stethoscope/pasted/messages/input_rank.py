"""An input has an axis too few or too many."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import SHAPE, Cause, Certainty, Message, Read, Step, Wording, shown


def _explain(read: Read) -> Cause:
    wanted, found, shape = read.number("wanted"), read.number("found"), read.shape("shape")
    found = found if found is not None else len(shape) if shape is not None else None
    layer = read.layer()
    if wanted is None or found is None:
        return Cause(
            "A layer got an array with another number of axes than it takes: the axis of rows, of channels or of time is missing, or one is too many.",
            Certainty.CERTAIN,
            (Step("Look at what comes in and what is wanted.", "print(x.shape, model.input_shape)"),),
        )
    told = f"{layer[0].upper()}{layer[1:]} takes {wanted} axes and got {found}" + (
        f": {shown(shape)}." if shape is not None else "."
    )
    if found == wanted - 1 and wanted in (4, 5) and shape is not None and shape[-1] not in (1, 3, 4):
        return Cause(
            f"{told} Pictures need an axis of channels at the end (rows, height, width, channels); grey ones have a channel, too.",
            Certainty.LIKELY,
            (
                Step("Add the axis of channels.", "x = x[..., None]"),
                Step("If it is one picture and not many, add the axis of rows.", "x = x[None]"),
            ),
        )
    if found == wanted - 1:
        return Cause(
            f"{told} Most often it is one sample without the axis of rows, or data without its last axis (channels, features).",
            Certainty.LIKELY,
            (
                Step(
                    "One sample: add the axis of rows. A data set: batch it.",
                    "x = x[None]\ndataset = dataset.batch(32)",
                ),
                Step("Series with one value at each step: add the axis of features.", "x = x[..., None]"),
            ),
        )
    if found > wanted:
        return Cause(
            f"{told} An axis is too many: a batch was batched twice, or what comes before is not flattened or pooled.",
            Certainty.LIKELY,
            (
                Step(
                    "Between convolutions and Dense or recurrent layers, take the axis away.",
                    "x = keras.layers.Flatten()(x)   # recurrent before recurrent: return_sequences=True in the first",
                ),
                Step("A data set that is batched already is not batched again.", "print(dataset.element_spec)"),
            ),
        )
    return Cause(
        f"{told} Axes are missing before it: of rows, of time, of channels.",
        Certainty.LIKELY,
        (
            Step(
                "A recurrent layer after a recurrent layer needs all steps of the first.",
                "keras.layers.LSTM(64, return_sequences=True)",
            ),
            Step("Data: add what is missing.", "x = x.reshape((len(x), steps, features))"),
        ),
    )


MESSAGE = Message(
    id="input-rank",
    title="An input has an axis too few or too many",
    wordings=(
        Wording(
            "found ndim=",
            rf"expected (?:min_|max_)?ndim=(?P<wanted>\d{{1,2}}), found ndim=(?P<found>\d{{1,2}})(?:\. Full shape received: (?P<shape>{SHAPE}))?",
        ),
        Wording(
            "dimensions, but got array with shape",
            rf"(?<!target: )expected (?P<layer>[\w/.-]{{1,80}}) to have (?P<wanted>\d{{1,2}}) dimensions, but got array with shape (?P<shape>{SHAPE})",
        ),
        Wording(
            "Estimator expected <= 2",
            r"Found array with dim (?P<found>\d)\. .{0,30}Estimator expected <= (?P<wanted>\d)",
        ),
    ),
    explain=_explain,
    ways=(ways.DATA, ways.LAYERS),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/44250",
        "https://github.com/tensorflow/tensorflow/issues/48138",
        "https://github.com/tensorflow/tensorflow/issues/46794",
    ),
)
