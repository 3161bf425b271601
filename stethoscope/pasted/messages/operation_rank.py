"""An operation got a tensor with another number of axes."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    wanted, found, operation = read.get("wanted"), read.get("found"), read.get("operation")
    told = f"{wanted} axes are wanted and {found} came" if wanted and found else "The number of axes is another"
    where = f" (at {operation})" if operation else ""
    return Cause(
        f"{told}{where}: pictures are [batch, height, width, channels], sequences [batch, steps, features]; one picture or row needs its batch axis.",
        Certainty.CERTAIN
        if wanted or read.says("is not a matrix", "input must be 4-dimensional", "must have rank 4")
        else Certainty.LIKELY,
        (Step("One row: make a batch of one.", "x = x[None]"), Step("Pictures without channels.", "x = x[..., None]")),
    )


MESSAGE = Message(
    id="operation-rank",
    title="An operation got a tensor with another number of axes",
    wordings=(
        Wording(
            "Shape must be rank",
            r"Shape must be (?:at least )?rank (?P<wanted>\d{1,2}) but is rank (?P<found>\d{1,2})(?: for (?:'\{\{node )?(?P<operation>[\w/]{1,80}))?",
        ),
        Wording("is not a matrix. Instead it has shape", r"In\[\d\] is not a matrix\. Instead it has shape"),
        Wording("In[0] is not a matrix"),
        Wording("The rank of a RaggedTensor must be greater than 1"),
        Wording("must be 4-dimensional"),
        Wording("input must be 4-dimensional"),
        Wording("must have rank 4 but got"),
    ),
    explain=_explain,
    ways=(ways.LAYERS, ways.DATA),
    sources=("https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/core/framework/shape_inference.cc",),
)
