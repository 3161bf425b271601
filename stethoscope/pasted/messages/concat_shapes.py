"""What is to be joined differs in another axis than the one it is joined along."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import SHAPE, Cause, Certainty, Message, Read, Step, Wording, shown


def _explain(read: Read) -> Cause:
    first, second = read.shape("first"), read.shape("second")
    if first is None or second is None or len(first) != len(second):
        return Cause(
            "Tensors are joined along one axis and have to agree in all others; they do not.",
            Certainty.CERTAIN,
            (Step("Print the shapes before the Concatenate layer.", "print([t.shape for t in tensors])"),),
        )
    where = [axis for axis, (one, other) in enumerate(zip(first, second, strict=True)) if one != other]
    if not where:
        return Cause(
            f"Tensors are joined along one axis and have to agree in all others; the first two agree ({shown(first)}), one after them does not.",
            Certainty.LIKELY,
            (Step("Print the shapes before the Concatenate layer.", "print([t.shape for t in tensors])"),),
        )
    told = f"{shown(first)} and {shown(second)} are joined; they differ in axis {' and '.join(str(axis) for axis in where)}."
    sizes = [(first[axis] or 0, second[axis] or 0) for axis in where if axis > 0]
    near = [(one, other) for one, other in sizes if one and other and abs(one - other) <= 2]
    if near and len(first) > 3:
        low = min(near[0])
        return Cause(
            f"{told} {near[0][0]} against {near[0][1]}: an odd size was halved on the way down and doubled on the way up, so that the skip connection no longer fits (U-Net).",
            Certainty.LIKELY,
            (
                Step(
                    "Give pictures whose sides can be halved as often as the network does it (a multiple of 32 for five times).",
                    "image = tf.image.resize(image, (256, 256))",
                ),
                Step("Or crop or pad the larger one.", f"skip = keras.layers.CenterCrop({low}, {low})(skip)"),
            ),
        )
    return Cause(
        f"{told} They may differ only in the axis they are joined along.",
        Certainty.CERTAIN,
        (
            Step(
                "Join along the axis in which they differ, or bring them to the same size.",
                f"keras.layers.Concatenate(axis={where[0] if where else -1})(tensors)",
            ),
        ),
    )


MESSAGE = Message(
    id="concat-shapes",
    title="What is to be joined differs in another axis than the one it is joined along",
    wordings=(
        Wording(
            "layer requires inputs with matching shapes except for the concat",
            r"(?:input_shape=|inputs shapes: )\[(?P<first>\([^)]{1,80}\)), (?P<second>\([^)]{1,80}\))",
        ),
        Wording(
            "ConcatOp : ",
            rf"ConcatOp : (?:Dimensions of inputs should match|Dimension \d+ in both shapes must be equal): shape\[0\] ?= ?(?P<first>{SHAPE}) vs\. shape\[\d{{1,4}}\] ?= ?(?P<second>{SHAPE})",
        ),
        Wording(
            "ConcatOp : ", r"ConcatOp : (?:Ranks of all input|Dimensions of inputs should match|Dimension \d+ in both)"
        ),
        Wording(
            "mode can only merge layers with matching output shapes except for the concat axis",
            r"Layer shapes: \[(?P<first>\([^)]{1,80}\)), (?P<second>\([^)]{1,80}\))",
        ),
    ),
    explain=_explain,
    ways=(ways.LAYERS,),
    sources=(
        "https://github.com/keras-team/keras/issues/19964",
        "https://github.com/divamgupta/image-segmentation-keras/issues/283",
        "https://github.com/qubvel/segmentation_models/issues/1",
    ),
)
