"""The rows of a list of tensors have another shape than expected."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    wanted, found = read.get("wanted"), read.get("found")
    told = (
        f"A loop over time steps keeps tensors of {wanted}, and one of {found} came"
        if wanted and found
        else "A loop over time steps keeps tensors of one shape, and another came"
    )
    return Cause(
        f"{told}: mostly the batch has another size than the model was built with (stateful, batch_shape, a state of one's own), often the last batch of the data.",
        Certainty.LIKELY,
        (
            Step("Give full batches only.", "data = data.batch(32, drop_remainder=True)"),
            Step("Or build the states for the batch that comes.", "state = tf.zeros((tf.shape(x)[0], units))"),
        ),
    )


MESSAGE = Message(
    id="recurrent-list-shape",
    title="The rows of a list of tensors have another shape than expected",
    wordings=(
        Wording(
            "Specified a list with shape",
            r"Specified a list with shape (?P<wanted>\[[\d?,-]{1,60}\]) from a tensor with shape (?P<found>\[[\d?,-]{1,60}\])",
        ),
        Wording("TensorArray has inconsistent shapes"),
        Wording("Tried to write to index", r"write to index (?P<index>\d{1,9}) but array is not resize"),
    ),
    explain=_explain,
    ways=(ways.CHECK,),
    sources=("https://github.com/tensorflow/tensorflow/blob/master/tensorflow/core/kernels/list_kernels.cc",),
)
