"""The disk is full."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "The disk (or the quota, or /dev/shm of a container) is full.",
        Certainty.CERTAIN,
        (
            Step("See what is full; checkpoints and event files grow with each epoch.", "df -h . /tmp /dev/shm"),
            Step(
                "Keep the best checkpoint only.", "keras.callbacks.ModelCheckpoint('best.keras', save_best_only=True)"
            ),
            Step("A container's shared memory is 64 MB unless it is told otherwise.", "docker run --shm-size=8g …"),
        ),
    )


MESSAGE = Message(
    id="disk-full",
    title="The disk is full",
    wordings=(Wording("No space left on device"), Wording("Disk quota exceeded"), Wording("errno = 28")),
    explain=_explain,
    ways=(ways.CURVES,),
    sources=("https://docs.python.org/3/library/errno.html#errno.ENOSPC",),
)
