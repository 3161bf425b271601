"""A generator gives something else than its signature says."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import SHAPE, Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if "wanted" not in read:
        return Cause(
            "A generator gave an element that differs from the signature of from_generator in structure, type or shape.",
            Certainty.CERTAIN,
            (Step("Compare both.", "print(next(rows()))"),),
        )
    told = f"The generator gave {read.get('found')} where {read.get('wanted')} was declared."
    return Cause(
        told,
        Certainty.CERTAIN,
        (
            Step(
                "Say the shape that it gives (None for what changes), or change what it gives.",
                f"output_signature=(tf.TensorSpec({read.get('found') if read.shape('found') is not None else '(None, None)'}, tf.float32), tf.TensorSpec((), tf.int32))",
            ),
            Step("Pairs are tuples, not lists.", "yield image, label"),
            Step("See one element.", "print(next(rows()))"),
        ),
    )


MESSAGE = Message(
    id="generator-element",
    title="A generator gives something else than its signature says",
    wordings=(
        Wording(
            "where an element of shape",
            rf"yielded an element of shape (?P<found>{SHAPE}) where an element of shape (?P<wanted>{SHAPE}) was expected",
        ),
        Wording(
            "yielded an element that could not be converted to the expected type",
            r"expected type\. The expected type was (?P<wanted>\w{1,20}), but the yielded element was (?P<found>.{1,80})",
        ),
        Wording(
            "yielded an element that did not match the expected structure",
            r"expected structure was (?P<wanted>.{1,120}?), but the yielded element was (?P<found>.{1,80})",
        ),
        Wording("yielded an element that"),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/40425",
        "https://github.com/keras-team/keras/issues/14308",
    ),
)
