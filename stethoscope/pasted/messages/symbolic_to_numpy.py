"""NumPy is called on a tensor of a graph."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    tensor = f" ({read.get('tensor')})" if "tensor" in read else ""
    return Cause(
        f"A tensor{tensor} is given to NumPy while the graph is traced, when it has no value yet: np functions in a loss, a metric, a layer or a map, or np.prod of a shape that is not fixed.",
        Certainty.LIKELY,
        (
            Step(
                "Take TensorFlow's function of that name.",
                "tf.reduce_mean(x)   # not np.mean(x)\ntf.math.multiply(a, b)",
            ),
            Step(
                "What really needs NumPy goes through numpy_function (without gradients).",
                "y = tf.numpy_function(function, [x], tf.float32)\ny.set_shape(x.shape)",
            ),
            Step("To try it out without a graph.", "model.compile(…, run_eagerly=True)"),
        ),
    )


MESSAGE = Message(
    id="symbolic-to-numpy",
    title="NumPy is called on a tensor of a graph",
    wordings=(
        Wording(
            "Cannot convert a symbolic",
            r"Cannot convert a symbolic (?:tf\.|Keras )?[Tt]ensor \(?(?P<tensor>[^()\s]{0,120})\)? ?to a [nN]um[pP]y array",
        ),
        Wording("Cannot convert a symbolic"),
        Wording("trying to pass a Tensor to a NumPy call"),
    ),
    explain=_explain,
    ways=(ways.CHECK,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/50343",
        "https://github.com/msxiaojin/MDLCC/pull/2",
        "https://github.com/kidzik/event-detector/issues/3",
    ),
)
