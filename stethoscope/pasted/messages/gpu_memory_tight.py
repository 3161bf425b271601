"""The card had less memory than an algorithm wished for."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Role, Step, Wording


def _explain(read: Read) -> Cause:
    size = read.get("size", "a workspace")
    return Cause(
        f"A faster algorithm wished for {size} of the card and took a slower one instead. By itself it is no failure; it says that the card is nearly full.",
        Certainty.CERTAIN,
        (
            Step("Smaller batches leave room for the faster algorithm.", "model.fit(x, y, batch_size=16)"),
            Step("See who else holds the card.", "nvidia-smi"),
        ),
    )


MESSAGE = Message(
    id="gpu-memory-tight",
    title="The card had less memory than an algorithm wished for",
    wordings=(
        Wording(
            "The caller indicates that this is not a failure",
            r"ran out of memory trying to allocate (?P<size>[\d.]{1,12} ?[KMGTi]{0,3}B?)",
        ),
    ),
    explain=_explain,
    ways=(ways.CARD, ways.SWEEP),
    sources=("https://github.com/tensorflow/tensorflow/issues/43546", "https://github.com/cortexlabs/cortex/pull/853"),
    role=Role.WARNING,
)
