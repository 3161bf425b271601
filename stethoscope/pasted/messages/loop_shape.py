"""A value of a loop changes its shape."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import SHAPE, Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    name, before, after = read.get("name", "A value"), read.get("before"), read.get("after")
    told = (
        f"enters the loop with shape {before} and has {after} after one round"
        if after
        else "changes its shape in the loop"
    )
    return Cause(
        f"“{name}” {told}; a loop in a graph keeps the shape of what it carries.",
        Certainty.CERTAIN,
        (
            Step(
                "Say which axes may change.",
                "tf.while_loop(cond, body, [x], shape_invariants=[tf.TensorShape([None])])",
            ),
            Step(
                "In a traced for or while:",
                "for i in tf.range(n):\n    tf.autograph.experimental.set_loop_options(shape_invariants=[(x, tf.TensorShape([None]))])",
            ),
            Step(
                "Rows that are collected: a TensorArray.",
                "rows = tf.TensorArray(tf.float32, size=0, dynamic_size=True)",
            ),
        ),
    )


MESSAGE = Message(
    id="loop-shape",
    title="A value of a loop changes its shape",
    wordings=(
        Wording(
            "enters the loop with shape",
            rf"[Ii]nput tensor [`'](?P<name>[\w/:.]{{1,80}})[`'] enters the loop with shape (?P<before>{SHAPE}), but has shape (?P<after>{SHAPE})",
        ),
        Wording(
            "enters the loop with shape",
            rf"[`'](?P<name>[\w/:.]{{1,80}})[`'] has shape (?P<before>{SHAPE}) before the loop, but shape (?P<after>{SHAPE})",
        ),
        Wording(
            "after one iteration, which does not allow",
            rf"[`'](?P<name>[\w/:.]{{1,80}})[`'] has shape (?P<before>{SHAPE}) before the loop, but shape (?P<after>{SHAPE})",
        ),
        Wording("enters the loop with shape"),
    ),
    explain=_explain,
    ways=(ways.LAYERS,),
    sources=("https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/python/ops/while_loop.py",),
)
