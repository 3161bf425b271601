"""Targets were given beside a data set that holds them."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "A data set, a generator or a Sequence gives the targets itself, in pairs (inputs, targets); y is then not an argument.",
        Certainty.CERTAIN,
        (
            Step(
                "Put both into the data set.",
                "dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)\nmodel.fit(dataset)",
            ),
            Step("Validation data is a data set of pairs, too.", "model.fit(dataset, validation_data=validation)"),
        ),
    )


MESSAGE = Message(
    id="data-set-and-targets",
    title="Targets were given beside a data set that holds them",
    wordings=(
        Wording("as a tf.data.Dataset, `y` should not be passed"),
        Wording("`y` argument is not supported when using"),
        Wording("`y` should not be passed"),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://github.com/keras-team/keras-tuner/issues/753",),
)
