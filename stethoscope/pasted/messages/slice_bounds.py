"""An index beyond the end of an axis."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    index, axis, size = read.get("index", "an index"), read.get("axis", "an axis"), read.get("size")
    end = f" of {size} values" if size else ""
    return Cause(
        f"Index {index} is taken along axis {axis}{end}, beyond its end.",
        Certainty.CERTAIN,
        (
            Step("Indices count from 0; the last one is the length less one.", "print(x.shape)"),
            Step("A last batch may be shorter than the others.", "dataset = dataset.batch(32, drop_remainder=True)"),
        ),
    )


MESSAGE = Message(
    id="slice-bounds",
    title="An index beyond the end of an axis",
    wordings=(
        Wording("out of bounds", r"slice index (?P<index>-?\d{1,15}) of dimension (?P<axis>\d{1,3}) out of bounds"),
        Wording(
            "is out of bounds for axis",
            r"index (?P<index>-?\d{1,15}) is out of bounds for axis (?P<axis>\d{1,3}) with size (?P<size>\d{1,15})",
        ),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/core/util/strided_slice_op.cc",),
    rank=-1,
)
