"""An assertion of the graph does not hold."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    condition = f" “{read.get('condition')}”" if "condition" in read else ""
    values = f" What it saw: {read.get('values').strip()[:160]}" if "values" in read else ""
    return Cause(
        f"Code of the model, a loss, a metric or a library checks its values with an assertion{condition}, and this data does not fulfil it.{values}",
        Certainty.POSSIBLE,
        (
            Step(
                "The name of the node (before /Assert) and the frames above say whose it is; look at what goes in there.",
                "print(x.shape, x.dtype, x.numpy().min(), x.numpy().max())",
            ),
            Step("Sizes that differ: pictures beside masks or boxes, predictions beside labels."),
        ),
    )


MESSAGE = Message(
    id="tensor-assertion",
    title="An assertion of the graph does not hold",
    wordings=(
        Wording(
            "did not hold element-wise",
            r"Condition (?P<condition>.{1,60}?) did not hold element-wise:?\]? ?(?P<values>.{0,200}?)(?: \[\[|$)",
        ),
        Wording("assertion failed: [", r"assertion failed: \[(?P<values>.{1,200}?)\](?: \[\[|$|\s)"),
        Wording("did not hold", r"Condition (?P<condition>x [<>=!]{1,2} [y0]) did not hold"),
    ),
    explain=_explain,
    ways=(ways.DATA, ways.CHECK),
    sources=("https://github.com/tensorflow/models/issues/3972", "https://github.com/tensorflow/models/issues/7513"),
    rank=-1,
)
