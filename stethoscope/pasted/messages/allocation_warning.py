"""One allocation takes much of the free memory."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Role, Step, Wording


def _explain(read: Read) -> Cause:
    size = read.number("bytes")
    told = (
        f"One allocation of {size / 1024**3:.3g} GiB is more than {read.get('percent', '10')} % of the free memory."
        if size
        else "One allocation is more than a tenth of the free memory."
    )
    return Cause(
        f"{told} By itself it is no failure; if the program ends a moment later, this is why.",
        Certainty.CERTAIN,
        (
            Step("Smaller batches, or the data in pieces.", "model.fit(dataset.batch(16))"),
            Step(
                "A whole array in from_tensor_slices is copied into the graph: read it in pieces.",
                "dataset = tf.data.Dataset.from_generator(rows, output_signature=signature)",
            ),
        ),
    )


MESSAGE = Message(
    id="allocation-warning",
    title="One allocation takes much of the free memory",
    wordings=(
        Wording(
            "% of free system memory",
            r"Allocation of (?P<bytes>\d{1,20}) exceeds (?P<percent>\d{1,3})% of (?:free )?system memory",
        ),
        Wording(
            "% of system memory",
            r"Allocation of (?P<bytes>\d{1,20}) exceeds (?P<percent>\d{1,3})% of (?:free )?system memory",
        ),
    ),
    explain=_explain,
    ways=(ways.SWEEP, ways.PREDICT),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/59383",
        "https://github.com/tensorflow/tensorflow/issues/30580",
    ),
    role=Role.WARNING,
)
