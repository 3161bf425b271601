"""The card had less memory than an algorithm wished for."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Role, Step, Wording


def _explain(read: Read) -> Cause:
    size = read.get("size", "a workspace")
    if not read.says("The caller indicates that this is not a failure"):
        return Cause(
            f"The card had no {size} left. Where an error follows (OOM when allocating …), this is its beginning; where the program goes on, an algorithm took less instead.",
            Certainty.POSSIBLE,
            (
                Step("Smaller batches need less.", "model.fit(x, y, batch_size=16)"),
                Step("See who else holds the card.", "nvidia-smi"),
            ),
        )
    return Cause(
        f"A faster algorithm wished for {size} of the card and took a slower one instead. By itself it is no failure; so much was not free on the card.",
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
        Wording(
            "ran out of memory trying to allocate",
            r"Allocator \(GPU_\d{1,3}_bfc\) ran out of memory trying to allocate (?P<size>[\d.]{1,12} ?[KMGTi]{0,3}B?)",
        ),
    ),
    explain=_explain,
    ways=(ways.CARD, ways.SWEEP),
    sources=("https://github.com/tensorflow/tensorflow/issues/43546", "https://github.com/cortexlabs/cortex/pull/853"),
    role=Role.WARNING,
)
