"""A reshape to another number of values."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import SHAPE, Cause, Certainty, Message, Read, Step, Wording, elements, shown


def _explain(read: Read) -> Cause:
    values, wanted, multiple = read.number("values"), read.number("wanted"), read.number("multiple")
    first, second = read.shape("first"), read.shape("second")
    look = Step(
        "Print the shape before the reshape; let -1 stand for the rows and write out all other axes.",
        "x = keras.ops.reshape(x, (-1, 28, 28, 1))",
    )
    if first is not None and second is not None:
        return Cause(
            f"{shown(first)} holds {elements(first) or 'an open number of'} values and {shown(second)} {elements(second) or 'an open number'}: a reshape keeps their number.",
            Certainty.CERTAIN,
            (look,),
        )
    if values and multiple:
        return Cause(
            f"{values:,} values are to be cut into pieces of {multiple:,}, which does not come out even. The data or a layer before has another size than the reshape was written for (the size of the picture, the length of the series, the number of classes).",
            Certainty.LIKELY,
            (
                look,
                Step(
                    "What the pieces are made of is in the code: compare its numbers with the configuration.",
                    f"print({values} / {multiple})",
                ),
            ),
        )
    if values and wanted:
        ratio = max(values, wanted) / min(values, wanted)
        rows = (
            f" One is {ratio:.0f} times the other: perhaps the axis of rows is part of what is reshaped, or is written as a fixed number."
            if ratio == int(ratio) and ratio > 1
            else ""
        )
        return Cause(
            f"{values:,} values are to become {wanted:,}.{rows} A reshape keeps the number of values.",
            Certainty.CERTAIN,
            (look,),
        )
    return Cause("A reshape keeps the number of values, and this one would not.", Certainty.CERTAIN, (look,))


MESSAGE = Message(
    id="reshape-size",
    title="A reshape to another number of values",
    wordings=(
        Wording(
            "Input to reshape is a tensor with",
            r"Input to reshape is a tensor with (?P<values>\d{1,15}) values, but the requested shape (?:has (?P<wanted>\d{1,15})|requires a multiple of (?P<multiple>\d{1,15}))",
        ),
        Wording(
            "must be unchanged",
            rf"(?i:total size of (?:the tensor|new array)) must be unchanged.{{0,20}}?input_shape ?= ?(?P<first>{SHAPE}), (?:target_shape|output_shape) ?= ?(?P<second>{SHAPE})",
        ),
        Wording("total size of new array must be unchanged"),
        Wording(
            "cannot reshape array of size",
            r"cannot reshape array of size (?P<values>\d{1,15}) into shape (?P<second>\([^)]{0,60}\))",
        ),
    ),
    explain=_explain,
    ways=(ways.LAYERS, ways.DATA),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/29623",
        "https://github.com/qqwweee/keras-yolo3/issues/20",
        "https://github.com/tensorflow/models/issues/6554",
    ),
)
