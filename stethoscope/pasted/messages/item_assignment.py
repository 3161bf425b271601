"""A tensor cannot be changed in place."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "A tensor never changes: x[i] = value works on arrays of NumPy, not on tensors of TensorFlow.",
        Certainty.CERTAIN,
        (
            Step("Choose by a mask.", "x = tf.where(mask, new, x)"),
            Step("Or write at places.", "x = tf.tensor_scatter_nd_update(x, [[2]], [1.0])"),
            Step(
                "In a loop, gather the rows and stack them once.",
                "rows = [step(i) for i in range(5)]\nx = tf.stack(rows)",
            ),
            Step("A tf.Variable can be changed.", "v[2].assign(1.0)"),
        ),
    )


MESSAGE = Message(
    id="item-assignment",
    title="A tensor cannot be changed in place",
    wordings=(
        Wording(
            "object does not support item assignment",
            r"'(?P<type>(?:tensorflow[\w.]{0,60}\.)?(?:Tensor|EagerTensor|KerasTensor|SymbolicTensor|ResourceVariable|RaggedTensor|SparseTensor|Variable))' object does not support item assignment",
        ),
    ),
    explain=_explain,
    ways=(ways.CHECK,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/33131",
        "https://github.com/tensorflow/tensorflow/issues/32387",
    ),
)
