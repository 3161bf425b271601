"""A convolution got another number of channels than its kernel has."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    found, wanted = read.number("found"), read.number("wanted")
    if "groups" in read:
        return Cause(
            f"The input has {read.get('channels')} channels, which do not divide into {read.get('groups')} groups.",
            Certainty.CERTAIN,
            (Step("As many groups as divide the channels.", "keras.layers.Conv2D(64, 3, groups=1)"),),
        )
    if found is None or wanted is None:
        return Cause(
            "The input of a convolution has another number of channels than its kernel.",
            Certainty.CERTAIN,
            (Step("Look at both.", "print(x.shape, layer.kernel.shape)"),),
        )
    if {found, wanted} <= {1, 3, 4}:
        return Cause(
            f"The picture has {found} channel{'s' if found != 1 else ''} and the kernel wants {wanted}: grey against colour, or an alpha channel.",
            Certainty.LIKELY,
            (
                Step(
                    "Read pictures with the channels of the training.",
                    f"image = tf.io.decode_image(data, channels={wanted}, expand_animations=False)",
                ),
                Step("Grey to three channels.", "x = tf.image.grayscale_to_rgb(x)"),
            ),
        )
    return Cause(
        f"The input has {found} channels and the kernel wants {wanted}: the axis of channels stands elsewhere, or the layer before gives another number of filters.",
        Certainty.LIKELY,
        (
            Step(
                "Look at both.", "print(x.shape, layer.kernel.shape)   # channels last: (rows, height, width, channels)"
            ),
        ),
    )


MESSAGE = Message(
    id="conv-channels",
    title="A convolution got another number of channels than its kernel has",
    wordings=(
        Wording(
            "input depth must be evenly divisible by filter depth",
            r"filter depth: (?P<found>\d{1,7}) vs (?P<wanted>\d{1,7})",
        ),
        Wording(
            "The number of input channels must be evenly divisible",
            r"groups=(?P<groups>\d{1,7}), but the input has (?P<channels>\d{1,7}) channels",
        ),
        Wording(
            "number of input channels does not match corresponding dimension of filter",
            r"dimension of filter, (?P<found>\d{1,7}) != (?P<wanted>\d{1,7})",
        ),
    ),
    explain=_explain,
    ways=(ways.DATA, ways.LAYERS),
    sources=("https://github.com/keras-team/keras/blob/master/keras/src/layers/convolutional/base_conv.py",),
)
