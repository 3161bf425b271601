"""Python's if, for or and meets a tensor of a graph."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "While a graph is traced a tensor has no value, so Python's if, while, for, and, not cannot look at it. AutoGraph turns them into graph operations, but not in code that it does not see (a lambda, a Lambda layer, a library, do_not_convert), nor in Keras 1's layers.",
        Certainty.CERTAIN,
        (
            Step("Choose by values in the graph.", "y = tf.where(x > 0, x, -x)"),
            Step("Or by one condition.", "y = tf.cond(flag, lambda: a, lambda: b)"),
            Step("Loops over rows.", "y = tf.map_fn(function, x)"),
            Step("To look for it step by step, run without a graph.", "model.compile(…, run_eagerly=True)"),
        ),
    )


MESSAGE = Message(
    id="symbolic-bool",
    title="Python's if, for or and meets a tensor of a graph",
    wordings=(
        Wording(
            "as a Python `bool` is not allowed", r"(?i:using) a (?:symbolic )?`tf\.Tensor` as a Python `(?P<what>bool)`"
        ),
        Wording("over a symbolic `tf.Tensor` is not allowed"),
        Wording("iterating over `tf.Tensor` is not allowed"),
        Wording("iterating over `tf.Tensor`: AutoGraph"),
        Wording("Iterating over a symbolic"),
        Wording("Cannot iterate over a Tensor with unknown first dimension"),
        Wording("cannot be used as a boolean", beside="KerasTensor"),
    ),
    explain=_explain,
    ways=(ways.CHECK,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/35403",
        "https://github.com/tensorflow/tensorflow/issues/40916",
        "https://github.com/tensorflow/tensorflow/issues/41003",
    ),
)
