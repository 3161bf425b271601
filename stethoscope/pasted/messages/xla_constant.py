"""XLA needs a shape that is known before it runs."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    operation = f"“{read.get('operation')}”" if "operation" in read else "An operation"
    return Cause(
        f"{operation} needs a size that XLA has to know while it compiles, and it is a tensor that is computed (or an argument).",
        Certainty.CERTAIN,
        (
            Step("Give sizes as Python numbers or from static shapes.", "size = x.shape[1]   # not tf.shape(x)[1]"),
            Step("Or do not compile this function.", "@tf.function(jit_compile=False)"),
        ),
    )


MESSAGE = Message(
    id="xla-constant",
    title="XLA needs a shape that is known before it runs",
    wordings=(
        Wording(
            "must be a compile-time constant",
            r"(?:(?P<argument>Input \d{1,3}) to (?:node `(?P<node>[^`]{1,120})` with op )?(?P<operation>\w{1,60}) )?must be a compile-time constant",
        ),
    ),
    explain=_explain,
    ways=(ways.DEVICES,),
    sources=("https://github.com/tensorflow/tensorflow/issues/52905",),
)
