"""A tensor has another type than was asked for."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    wanted, found = read.get("wanted", "one type"), read.get("found", "another type")
    if "value" in read and read.number("value") is not None and "int" in wanted:
        return Cause(
            f"{wanted} does not hold the number {read.get('value')}: it is too large, or negative where there is no sign.",
            Certainty.LIKELY,
            (Step("A larger type.", "x = tf.constant(value, tf.int64)"),),
        )
    return Cause(
        f"{wanted} was asked for and the value is {found}. TensorFlow does not convert a tensor by itself.",
        Certainty.CERTAIN,
        (
            Step(
                "Convert it where it is made.",
                f"x = tf.cast(x, tf.{wanted})" if wanted.isidentifier() else "x = tf.cast(x, tf.float32)",
            ),
            Step("Python and NumPy numbers get their type there.", "x = np.asarray(x, dtype='float32')"),
        ),
    )


MESSAGE = Message(
    id="tensor-dtype",
    title="A tensor has another type than was asked for",
    wordings=(
        Wording(
            "Tensor conversion requested dtype",
            r"requested dtype (?P<wanted>\w{1,20}) for Tensor with dtype (?P<found>\w{1,20})",
        ),
        Wording("Cannot convert", r"Cannot convert (?P<value>[^ ]{1,40}) to EagerTensor of dtype (?P<wanted>\w{1,20})"),
        Wording(
            "tensor of type",
            r"Expected (?P<wanted>\w{1,20}), (?:but )?got .{1,80}? of type '?(?P<found>\w{1,20})",
            beside="Tensor",
        ),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/python/framework/tensor.py",),
    rank=-1,
)
