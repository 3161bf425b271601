"""The loss became NaN."""

from __future__ import annotations

import re

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Role, Step, Wording


def _first_epoch(text: str) -> int | None:
    """The epoch of the first loss that is NaN; None where the text does not say."""
    before = text[: max(0, text.lower().find("loss: nan"))]
    said = re.findall(r"Epoch (\d{1,6})/\d", before[-20_000:])
    return int(said[-1]) if said else None


def _explain(read: Read) -> Cause:
    batch, epoch = read.number("batch"), _first_epoch(read.text)
    first = batch == 0 or epoch == 1
    when = f" in batch {batch}" if batch is not None else f" in epoch {epoch}" if epoch is not None else ""
    data = Step("Is there NaN in the data?", "print(np.isfinite(x).all(), np.isfinite(y).all(), np.abs(x).max())")
    rate = Step("A smaller rate, and gradients that are clipped.", "keras.optimizers.Adam(1e-4, clipnorm=1.0)")
    if first:
        return Cause(
            f"The loss was NaN{when}, from the start: NaN or huge values in the data, or a loss that takes log of 0 or of negative numbers.",
            Certainty.POSSIBLE,
            (
                data,
                Step("Scale the inputs.", "normalization = keras.layers.Normalization()\nnormalization.adapt(x)"),
                rate,
            ),
        )
    return Cause(
        f"The loss became NaN{when} in the course of the training: a learning rate that is too high, gradients that explode, a log or division of 0, or a row of the data that is not finite.",
        Certainty.POSSIBLE,
        (rate, data, Step("See where the first one is made.", "tf.debugging.enable_check_numerics()")),
    )


MESSAGE = Message(
    id="loss-became-nan",
    title="The loss became NaN",
    wordings=(
        Wording("Invalid loss, terminating training", r"Batch (?P<batch>\d{1,9}): Invalid loss, terminating training"),
        Wording("loss: nan"),
        Wording("loss = nan"),
        Wording("loss: NaN"),
    ),
    explain=_explain,
    ways=(ways.CHECK, ways.CURVES),
    sources=("https://github.com/stefan-jansen/machine-learning-for-trading/issues/252",),
    role=Role.WARNING,
)
