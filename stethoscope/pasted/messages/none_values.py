"""Something is None where a tensor is wanted."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if read.says("in compute_loss", "compute_loss", "y_true", "loss"):
        return Cause(
            "The loss met None: either fit got no targets (only x, or a data set without labels), or a loss or metric of your own returns nothing.",
            Certainty.POSSIBLE,
            (
                Step(
                    "Give the targets, or a data set of pairs.",
                    "model.fit(x, y)\nprint(dataset.element_spec)   # (inputs, targets)",
                ),
                Step("A loss of your own needs a return in each branch."),
            ),
        )
    return Cause(
        "A tensor was wanted and None came: a function without a return, a gradient that does not exist, or an argument that was left out.",
        Certainty.POSSIBLE,
        (
            Step("Look at the last line of your own in the traceback, and print what it hands on."),
            Step(
                "Gradients that are None have no path to the loss.",
                "print([v.name for v, g in zip(model.trainable_variables, gradients) if g is None])",
            ),
        ),
    )


MESSAGE = Message(
    id="none-values",
    title="Something is None where a tensor is wanted",
    wordings=(
        Wording("Fetch argument None has invalid type"),
        Wording("None values not supported"),
        Wording("Attempt to convert a value (None) with an unsupported type"),
        Wording("Expected binary or unicode string, got None"),
    ),
    explain=_explain,
    ways=(ways.CHECK,),
    sources=("https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/python/framework/tensor_util.py",),
    rank=-1,
)
