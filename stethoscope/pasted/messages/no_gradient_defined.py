"""An operation has no gradient."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    name = read.get("operation", "An operation")
    return Cause(
        f"{name} is on the way from the weights to the loss, and TensorFlow knows no gradient for it.",
        Certainty.CERTAIN,
        (
            Step("Take it off the way where its result is not learned by.", "x = tf.stop_gradient(x)"),
            Step(
                "Or say the gradient yourself.",
                "@tf.custom_gradient\ndef f(x):\n    return forward(x), lambda upstream: upstream",
            ),
        ),
    )


MESSAGE = Message(
    id="no-gradient-defined",
    title="An operation has no gradient",
    wordings=(
        Wording("No gradient defined for operation", r"\(op type: (?P<operation>\w{1,80})\)"),
        Wording("gradient registry has no entry for", r"gradient registry has no entry for: (?P<operation>\w{1,80})"),
    ),
    explain=_explain,
    ways=(ways.LAYERS,),
    sources=("https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/python/framework/ops.py",),
)
