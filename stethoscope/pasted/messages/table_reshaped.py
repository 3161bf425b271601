"""A table has two axes."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    shape = f" of {read.get('shape')}" if "shape" in read else ""
    return Cause(
        f"A pandas table was to become an array{shape}; a DataFrame has rows and columns only, and np.reshape of one tries to give a DataFrame back.",
        Certainty.LIKELY,
        (Step("Take the numbers out first.", "x = table.to_numpy().reshape(len(table), steps, features)"),),
    )


MESSAGE = Message(
    id="table-reshaped",
    title="A table has two axes",
    wordings=(
        Wording("Must pass 2-d input", r"Must pass 2-d input\. shape=(?P<shape>\([\d, ]{1,40}\))"),
        Wording("Must pass 2-d input"),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://github.com/abhinav-bhardwaj/Network-Intrusion-Detection-Using-Machine-Learning/issues/3",),
)
