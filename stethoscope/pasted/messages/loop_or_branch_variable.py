"""A variable of a loop or branch is not the same on every way."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    name = read.get("variable", "a variable")
    how = f" (the {read.get('branch')} branch leaves it open)" if "branch" in read else ""
    types = f": it is {read.get('first')} before and {read.get('then')} after one round" if "then" in read else ""
    return Cause(
        f"In a traced function, “{name}” has to be a tensor of one type on every way through an if on tensors, and before a loop begins{how}{types}.",
        Certainty.LIKELY if "unset" in read else Certainty.CERTAIN,
        (
            Step(
                "Set it before the loop and in both branches, with the same type.",
                f"{name} = tf.constant(0.0)\nfor value in tensor:\n    {name} += tf.cast(value, tf.float32)",
            ),
            Step("What does not depend on tensors stays Python: a loop over range, an if on a setting."),
        ),
    )


MESSAGE = Message(
    id="loop-or-branch-variable",
    title="A variable of a loop or branch is not the same on every way",
    wordings=(
        Wording("must be defined before the loop", r"'(?P<variable>[\w.]{1,60})' must be defined before the loop"),
        Wording(
            "is None at the end of the",
            r"'(?P<variable>[\w.]{1,60})' is None at the end of the (?P<branch>main|else|body|orelse) branch",
        ),
        Wording(
            "must also be initialized in the",
            r"'(?P<variable>[\w.]{1,60})' must also be initialized in the (?P<branch>main|else) branch",
        ),
        Wording(
            "before the loop, but dtype",
            r"'(?P<variable>[\w.]{1,60})' has dtype (?P<first>\w{1,20}) before the loop, but dtype (?P<then>\w{1,20})",
        ),
        Wording("is used before assignment", r"'(?P<variable>[\w.]{1,60})' is (?P<unset>used before assignment)"),
    ),
    explain=_explain,
    ways=(ways.LAYERS,),
    sources=(
        "https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/autograph/operators/control_flow.py",
    ),
)
