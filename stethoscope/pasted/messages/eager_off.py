"""A placeholder of TensorFlow 1 under eager execution."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    function = read.get("function", "This function").strip("`")
    if read.says("when a Tensor loss is passed"):
        return Cause(
            "An optimizer was handed a loss that is a value already (minimize, compute_gradients); in TensorFlow 2 it wants a function, or the tape that the loss was computed under.",
            Certainty.CERTAIN,
            (
                Step(
                    "With a tape.",
                    "with tf.GradientTape() as tape:\n    loss = compute(model(x), y)\ngradients = tape.gradient(loss, model.trainable_variables)\noptimizer.apply_gradients(zip(gradients, model.trainable_variables))",
                ),
                Step("Old programs: turn eager execution off.", "tf.compat.v1.disable_eager_execution()"),
            ),
        )
    if read.says("capture an EagerTensor"):
        return Cause(
            "A value that was computed at once is used inside a graph of TensorFlow 1 (tf.Graph, a session): both ways of running are mixed.",
            Certainty.LIKELY,
            (
                Step(
                    "Old programs: turn eager execution off at the very beginning.",
                    "tf.compat.v1.disable_eager_execution()",
                ),
                Step("New ones: leave tf.Graph and sessions out, or use tf.function."),
            ),
        )
    return Cause(
        f"{function} belongs to graphs and sessions of TensorFlow 1, and TensorFlow 2 runs eagerly.",
        Certainty.CERTAIN if "function" in read else Certainty.LIKELY,
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
        Wording("is required when a Tensor loss is passed"),
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
