"""The picture is smaller than the kernel by now."""

from __future__ import annotations

import re

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import SHAPE, Cause, Certainty, Message, Read, Step, Wording, shown


def _of_windows(read: Read) -> bool:
    """Whether the text itself speaks of a convolution or a pooling."""
    if "kernel" in read:
        return bool(re.search(r"subtracting \d+ from \d+ for .{0,160}?(?:[Cc]onv|[Pp]ool|Patches)", read.text))
    return True


def _explain(read: Read) -> Cause:
    kernel, size, shape = read.number("kernel"), read.number("size"), read.shape("shape")
    kernels = read.shape("kernel_shape")
    told = (
        f"{read.layer('This layer')} slides a kernel of {kernel} over {size} values."
        if kernel and size is not None
        else ""
    )
    if not told and shape is not None and kernels is not None:
        told = f"{read.layer('This layer')} slides a kernel of {' × '.join(str(one) for one in kernels[:-2])} over a picture of {shown(shape)}."
    same = Step(
        "Keep the size in convolutions, pool less often, or give larger pictures.",
        "keras.layers.Conv2D(64, 3, padding='same', activation='relu')",
    )
    if "bare" in read or not _of_windows(read):
        return Cause(
            "A size that was computed came out below 0: a convolution or pooling without padding over a picture that is smaller than its kernel, or a length of your own that went below 0 (a crop, a difference).",
            Certainty.LIKELY,
            (same, Step("See how the size goes down, layer by layer.", "model.summary()")),
        )
    if (
        shape is not None
        and len(shape) == 4
        and shape[1] is not None
        and shape[-1] is not None
        and shape[1] <= 4 < shape[-1]
        and (shape[2] or 0) > 8
    ):
        return Cause(
            f"{told} The picture is {shown(shape)}: its channels stand first, while the layer takes the first axis for the height.",
            Certainty.LIKELY,
            (
                Step("Move the channels to the end.", "x = x.transpose(0, 2, 3, 1)"),
                Step("Or say so (on a GPU only).", "keras.config.set_image_data_format('channels_first')"),
            ),
        )
    return Cause(
        f"{told} Each convolution without padding and each pooling makes the picture smaller, and here it is smaller than the kernel.".strip(),
        Certainty.CERTAIN,
        (same, Step("See how the size goes down, layer by layer.", "model.summary()")),
    )


MESSAGE = Message(
    id="negative-dimension",
    title="The picture is smaller than the kernel by now",
    wordings=(
        Wording(
            "Negative dimension size caused by subtracting",
            rf"subtracting (?P<kernel>\d{{1,6}}) from (?P<size>\d{{1,6}})(?: for '?(?P<node>[^' ]{{1,120}}))?(?:.{{0,400}}?with input shapes: (?P<shape>{SHAPE}))?",
        ),
        Wording(
            "Computed output size would be",
            rf"output size would be (?:zero or )?negative\. Received:? `?inputs? shape=(?P<shape>{SHAPE})`?, `?kernel shape=(?P<kernel_shape>{SHAPE})`?",
        ),
        Wording("Computed output size would be", r"output size would be (?:zero or )?negative"),
        Wording("Dimension -", r"(?P<bare>Dimension) -\d{1,9} must be >= 0"),
        Wording("One of the dimensions in the output is <= 0", r"in the output is <= 0"),
    ),
    explain=_explain,
    ways=(ways.LAYERS,),
    sources=(
        "https://github.com/keras-team/keras/issues/12951",
        "https://github.com/fchollet/deep-learning-with-python-notebooks/issues/33",
        "https://github.com/MarcBS/keras/issues/59",
    ),
)
