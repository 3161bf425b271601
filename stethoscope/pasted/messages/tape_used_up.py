"""A gradient tape is used twice."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "A GradientTape gives its gradients once, then it is empty.",
        Certainty.CERTAIN,
        (
            Step("Ask for all of them at once.", "by_a, by_b = tape.gradient(loss, [a, b])"),
            Step(
                "Or keep the tape, and delete it afterwards.",
                "with tf.GradientTape(persistent=True) as tape:\n    ...\ndel tape",
            ),
        ),
    )


MESSAGE = Message(
    id="tape-used-up",
    title="A gradient tape is used twice",
    wordings=(
        Wording("A non-persistent GradientTape can only be used to"),
        Wording("GradientTape.gradient can only be called once on non-persistent tapes"),
    ),
    explain=_explain,
    ways=(ways.CHECK,),
    sources=("https://www.tensorflow.org/api_docs/python/tf/GradientTape",),
)
