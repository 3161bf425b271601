"""A tensor holds NaN or infinity."""

from __future__ import annotations

import re

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    what = read.get("what", "NaN or infinity")
    said = re.sub(r"^(?:[\w.]*Error|Exception)\b ?", "", read.get("message").strip())
    place = said or read.get("operation")
    told = f"“{place}” holds {what}." if place else f"A tensor holds {what}."
    return Cause(
        f"{told} It says where it was seen first, not where it came from: a learning rate that is too high, log or division of 0, the square root of 0 (its slope is infinite), a NaN in the data, or float16 that overflows.",
        Certainty.POSSIBLE,
        (
            Step(
                "Data first: it is the cheapest to rule out.",
                "print(np.isfinite(x).all(), np.isfinite(y).all(), np.abs(x).max())",
            ),
            Step("Let TensorFlow say where the first one is made.", "tf.debugging.enable_check_numerics()"),
            Step("A smaller rate, and gradients that are clipped.", "keras.optimizers.Adam(1e-4, clipnorm=1.0)"),
            Step(
                "Losses from logits instead of log of a softmax.",
                "keras.losses.SparseCategoricalCrossentropy(from_logits=True)",
            ),
        ),
    )


MESSAGE = Message(
    id="check-numerics",
    title="A tensor holds NaN or infinity",
    wordings=(
        Wording(
            "Tensor had",
            r"(?P<message>[^:{}]{0,120}?) ?: ?Tensor had (?P<what>NaN|Inf|-Inf|\+Inf|NaN and Inf|Inf and NaN)(?: and [\w+-]{1,5})? values",
        ),
        Wording("Found Inf or NaN", r"(?P<what>Inf or NaN)"),
        Wording(
            "!!! Detected Infinity or NaN in output",
            r"in output (?P<output>\d{1,3}) of (?:eagerly-executed op|graph op) \"?(?P<operation>\w{1,60})",
        ),
        Wording("Loss is inf or nan"),
        Wording("NanLossDuringTrainingError"),
        Wording("Model diverged with loss = NaN"),
        Wording("LossTensor is inf or nan"),
    ),
    explain=_explain,
    ways=(ways.CHECK, ways.ACTIVATIONS),
    sources=(
        "https://github.com/tensorflow/models/issues/2721",
        "https://github.com/tensorflow/tensorflow/issues/4592",
    ),
)
