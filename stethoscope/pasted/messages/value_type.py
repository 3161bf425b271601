"""A value of another type was given than the operation takes."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    wanted, given, kind = (
        read.get("wanted", "another type"),
        read.get("given", "the value"),
        read.get("type", "another type"),
    )
    extra = " A tensor inside a list is no number in a graph: stack it." if read.says("containing Tensors") else ""
    return Cause(
        f"{wanted} is expected here and {given} ({kind}) was given.{extra}",
        Certainty.LIKELY,
        (
            Step(
                "Give a number or a tensor of that type.",
                f"tf.cast(x, tf.{wanted if wanted.isidentifier() else 'float32'})",
            ),
            Step("Shapes of sizes that are tensors: tf.stack.", "tf.reshape(x, tf.stack([n, -1]))"),
        ),
    )


MESSAGE = Message(
    id="value-type",
    title="A value of another type was given than the operation takes",
    wordings=(
        Wording(
            "not in list of allowed values",
            r"Value passed to parameter '(?P<given>\w{1,40})' has DataType (?P<type>\w{1,20}) not in list of allowed values: (?P<wanted>[\w, ]{1,160})",
        ),
        Wording(
            "of type",
            r"Expected (?P<wanted>[\w.]{1,40})(?: passed to parameter '\w{1,40}' of op '\w{1,60}')?, (?:but )?got (?P<given>.{1,80}?) of type '(?P<type>[\w.]{1,60})'",
        ),
    ),
    explain=_explain,
    ways=(ways.LAYERS,),
    sources=("https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/python/framework/tensor_util.py",),
    rank=-1,
)
