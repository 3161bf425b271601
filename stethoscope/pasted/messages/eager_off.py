"""A placeholder of TensorFlow 1 under eager execution."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    function = read.get("function", "This function").strip("`")
    return Cause(
        f"{function} belongs to graphs and sessions of TensorFlow 1, and TensorFlow 2 runs eagerly.",
        Certainty.CERTAIN,
        (
            Step(
                "Old programs: turn eager execution off at the very beginning.",
                "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()",
            ),
            Step("New ones: give the value itself instead of a placeholder.", "y = model(x)"),
        ),
    )


MESSAGE = Message(
    id="eager-off",
    title="A placeholder of TensorFlow 1 under eager execution",
    wordings=(
        Wording("Attempting to capture an EagerTensor without building a function"),
        Wording(
            "is not compatible with eager execution",
            r"(?P<function>[\w.]{1,60})\(?\)? is not compatible with eager execution",
        ),
        Wording(
            "is not supported when eager execution is enabled",
            r"(?P<function>[\w.`()]{1,80}) is not supported when eager execution is enabled",
        ),
        Wording("not meaningful when eager execution is enabled", r"(?P<function>[\w.]{1,60}) is not"),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=("https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/python/framework/ops.py",),
)
