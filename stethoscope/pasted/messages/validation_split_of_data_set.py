"""A validation split of something that cannot be split."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "validation_split takes the last rows of arrays; a data set, a generator or a Sequence has to be split before.",
        Certainty.CERTAIN,
        (
            Step(
                "Take rows off the data set, before it is shuffled and batched.",
                "validation = dataset.take(1000).batch(32)\ntraining = dataset.skip(1000).shuffle(10_000).batch(32)\nmodel.fit(training, validation_data=validation)",
            ),
            Step("Or let Keras split it.", "training, validation = keras.utils.split_dataset(dataset, right_size=0.2)"),
        ),
    )


MESSAGE = Message(
    id="validation-split-of-data-set",
    title="A validation split of something that cannot be split",
    wordings=(Wording("is only supported for", r"`validation_split` is only supported for (?P<kinds>[\w, ]{1,60})"),),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://github.com/keras-team/keras/blob/master/keras/src/trainers/data_adapters/array_data_adapter.py",),
)
