"""Values of two types are put into one tensor."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if read.says("non-rectangular"):
        return Cause(
            "The rows of a list have different lengths, and a tensor has one.",
            Certainty.CERTAIN,
            (
                Step(
                    "Pad them, or keep them ragged.",
                    "x = keras.utils.pad_sequences(rows)\nx = tf.ragged.constant(rows)",
                ),
            ),
        )
    types = f" ({read.get('types')})" if "types" in read else ""
    return Cause(
        f"What is joined or listed has several types{types}; a tensor has one.",
        Certainty.CERTAIN,
        (
            Step(
                "Bring all to one before.",
                "parts = [tf.cast(part, tf.float32) for part in parts]\nx = tf.concat(parts, axis=-1)",
            ),
        ),
    )


MESSAGE = Message(
    id="mixed-value-types",
    title="Values of two types are put into one tensor",
    wordings=(
        Wording(
            "that don't all match",
            r"passed to '(?P<given>\w{1,40})' of '(?P<operation>\w{1,60})' Op have types \[(?P<types>[^\]]{1,160})\]",
        ),
        Wording("Tensors in list passed to"),
        Wording("Can't convert Python sequence with mixed types to Tensor"),
        Wording("Can't convert non-rectangular Python sequence to Tensor"),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/framework/op_def_library.py",),
)
