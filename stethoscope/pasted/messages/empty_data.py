"""There is no data."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "Not one batch came: an array or data set without rows, a generator that was used up, or fewer rows than one batch with drop_remainder.",
        Certainty.LIKELY,
        (
            Step("See whether there is anything.", "print(len(x))\nprint(next(iter(dataset)))"),
            Step(
                "A generator gives its rows once; make a new one, or a data set.",
                "dataset = tf.data.Dataset.from_generator(make_rows, output_signature=signature)",
            ),
        ),
    )


MESSAGE = Message(
    id="empty-data",
    title="There is no data",
    wordings=(
        Wording("but the Sequence has length 0"),
        Wording("zero-size array to reduction operation"),
        Wording("'batch_outputs'", r"local variable 'batch_outputs'"),
        Wording("Expect x to be a non-empty array or dataset"),
        Wording("Unexpected result of `predict_function` (Empty batch_outputs)"),
        Wording("Unexpected result of `train_function` (Empty Logs)"),
        Wording("local variable 'logs' referenced before assignment"),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/python/keras/engine/training.py",),
)
