"""A gradient has another shape than its weight."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    told = (
        f"A weight of the shape {read.get('weight')} was given a gradient of {read.get('gradient')}"
        if "weight" in read
        else "A gradient has another shape than the weight it is for"
    )
    return Cause(
        f"{told}: gradients and weights were paired in another order or number (a list that was filtered, masked or taken of another model), or a gradient of one's own returns the wrong shape.",
        Certainty.LIKELY,
        (
            Step(
                "Pair them as they were asked for.",
                "variables = model.trainable_variables\noptimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))",
            ),
            Step("See both.", "for g, v in zip(gradients, variables):\n    print(v.name, v.shape, g.shape)"),
        ),
    )


MESSAGE = Message(
    id="gradient-shape",
    title="A gradient has another shape than its weight",
    wordings=(
        Wording(
            "var and grad do not have the same shape",
            r"same shape ?(?P<weight>\[[\d,]{0,40}\]) ?(?P<gradient>\[[\d,]{0,40}\])",
        ),
        Wording("var and grad do not have the same shape"),
    ),
    explain=_explain,
    ways=(ways.CHECK,),
    sources=("https://github.com/tensorflow/tensorflow/issues/41320",),
)
