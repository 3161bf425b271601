"""What is to be added or multiplied has different shapes."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import SHAPE, Cause, Certainty, Message, Read, Step, Wording, shown


def _explain(read: Read) -> Cause:
    first, second = read.shape("first"), read.shape("second")
    if first is None or second is None:
        return Cause(
            "Layers such as Add, Multiply and Average want inputs of the same shape.",
            Certainty.CERTAIN,
            (Step("Print both shapes before the layer."),),
        )
    convolution = len(first) == 3 and len(second) == 3
    fix = (
        "shortcut = keras.layers.Conv2D(filters, 1, strides=strides, padding='same')(shortcut)"
        if convolution
        else f"shortcut = keras.layers.Dense({second[-1] if second else 'units'})(shortcut)"
    )
    return Cause(
        f"{shown(first)} and {shown(second)} (without the axis of rows) are added or multiplied and have to be equal, or 1 where they differ. Often a shortcut goes past a layer that changes the number of features or the size.",
        Certainty.CERTAIN,
        (
            Step("Bring the shortcut to the shape of the branch.", fix),
            Step("Or keep the shape in the branch.", "padding='same', strides=1"),
        ),
    )


MESSAGE = Message(
    id="merge-shapes",
    title="What is to be added or multiplied has different shapes",
    wordings=(
        Wording(
            "Inputs have incompatible shapes. Received shapes",
            rf"Received shapes (?P<first>{SHAPE}) and (?P<second>{SHAPE})",
        ),
        Wording(
            "Operands could not be broadcast together with shapes",
            r"together with shapes (?P<first>\([^)]{0,60}\)) (?P<second>\([^)]{0,60}\))",
        ),
    ),
    explain=_explain,
    ways=(ways.LAYERS,),
    sources=("https://github.com/keras-team/keras/blob/master/keras/src/layers/merging/base_merge.py",),
)
