"""A batch or buffer of no rows."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    what = "shuffle" if read.says("buffer_size") else "batch"
    return Cause(
        f"{what} was given zero (or less): the size was computed from the number of rows or files, and there were none; or a division of whole numbers gave zero.",
        Certainty.LIKELY,
        (
            Step(
                "See how many there are; an empty list of files is a wrong path.",
                "files = tf.io.gfile.glob('data/*.jpg')\nprint(len(files))",
            ),
            Step("At least one.", "dataset = dataset.shuffle(max(1, len(files))).batch(max(1, size))"),
        ),
    )


MESSAGE = Message(
    id="size-not-positive",
    title="A batch or buffer of no rows",
    wordings=(
        Wording("buffer_size must be greater than zero"),
        Wording("Batch size must be greater than zero"),
        Wording("batch_size must be greater than zero"),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=(
        "https://github.com/TachibanaYoshino/AnimeGANv2/issues/44",
        "https://github.com/cgtuebingen/Neural-PIL/issues/4",
    ),
)
