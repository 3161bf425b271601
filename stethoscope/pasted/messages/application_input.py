"""A ready-made network does not take this size of input."""

from __future__ import annotations

import re

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if read.says("`classes` should be 1000"):
        return Cause(
            "The weights of ImageNet end in 1000 classes; with another number the head has to be left away.",
            Certainty.CERTAIN,
            (
                Step(
                    "A head of one's own.",
                    "base = keras.applications.ResNet50(include_top=False, pooling='avg')\nmodel = keras.Sequential([base, keras.layers.Dense(10, activation='softmax')])",
                ),
            ),
        )
    if "wanted" in read:
        return Cause(
            f"With these weights and this head the network takes pictures of {read.get('wanted')} only (NASNet also without its head, in older versions of Keras).",
            Certainty.CERTAIN,
            (
                Step(
                    "Leave the head away.",
                    "base = keras.applications.ResNet50(include_top=False, input_shape=(128, 128, 3))",
                ),
                Step("Or bring pictures to that size.", "x = tf.image.resize(x, (224, 224))"),
            ),
        )
    if read.says("The input must have 3 channels"):
        return Cause(
            "Weights of ImageNet are for pictures with three channels.",
            Certainty.CERTAIN,
            (Step("Grey pictures: the same channel three times.", "x = tf.image.grayscale_to_rgb(x)"),),
        )
    if re.match(r"\([134],", read.get("shape")):
        return Cause(
            f"The picture is {read.get('shape')}: its channels stand first, while the network takes the first axis for the height.",
            Certainty.LIKELY,
            (Step("Move the channels to the end.", "x = x.transpose(0, 2, 3, 1)"),),
        )
    return Cause(
        f"The network halves a picture five times, so it takes none below {read.get('least', 'a least size')}, and {read.get('shape', 'a smaller one')} was given.",
        Certainty.CERTAIN,
        (Step("Enlarge the pictures, or take a network for small ones.", "x = tf.image.resize(x, (96, 96))"),),
    )


MESSAGE = Message(
    id="application-input",
    title="A ready-made network does not take this size of input",
    wordings=(
        Wording(
            "Input size must be at least",
            r"at least (?P<least>\d{1,4}x\d{1,4}); (?:got|Received:) `?input_shape=(?P<shape>\([\w, ]{1,40}\))",
        ),
        Wording(
            "and loading `imagenet` weights, `input_shape` should be",
            r"`input_shape` should be (?P<wanted>\([\d, ]{1,40}\))",
        ),
        Wording("The input must have 3 channels", r"input_shape=(?P<shape>\([\w, ]{1,40}\))"),
        Wording("with `include_top` as true, `classes` should be 1000"),
        Wording("`include_top=True`, `input_shape` should be", r"`input_shape` should be (?P<wanted>\([\d, ]{1,40}\))"),
    ),
    explain=_explain,
    ways=(ways.LAYERS,),
    sources=(
        "https://github.com/keras-team/keras-applications/issues/49",
        "https://github.com/keras-team/keras-applications/issues/78",
        "https://github.com/keras-team/keras/issues/8090",
    ),
)
