"""An operation refuses the shapes, types or values that it got."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    operation = read.get("operation") or read.get("at").rpartition("/")[2].rstrip("_0123456789") or "An operation"
    reason = " ".join(read.get("reason").split())
    place = f" in {read.layer()}" if read.get("layer") else ""
    return Cause(
        f"{operation}{place} refused what came"
        + (f": “{reason}”." if reason else ".")
        + " Shapes, types or values do not go together there.",
        Certainty.POSSIBLE,
        (
            Step("See the shapes and types that go in at your own line.", "print(x.shape, x.dtype)"),
            Step(
                "In a model: run it eagerly, so that the traceback leads to the line.",
                "model.compile(loss='mse', run_eagerly=True)",
            ),
        ),
    )


MESSAGE = Message(
    id="operation-refused",
    title="An operation refuses the shapes, types or values that it got",
    wordings=(
        Wording("[Op:", r"(?:^|Error: |}} )(?P<reason>[^\n]{10,260}?) \[Op:(?P<operation>\w{1,60})\]"),
        Wording("[[{{node", r"(?:Error: |}} )(?P<reason>[^\n]{10,260}?) \[\[\{\{node (?P<at>[\w./-]{1,200})\}\}"),
    ),
    explain=_explain,
    ways=(ways.CHECK, ways.LAYERS),
    sources=("https://www.tensorflow.org/api_docs/python/tf/errors/InvalidArgumentError",),
    rank=-3,
)
