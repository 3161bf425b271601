"""Rows of different lengths do not make an array."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    shape = f" They agree up to {read.get('shape')} and differ after that." if "shape" in read else ""
    sure = "axes" in read or read.says("inhomogeneous", "non-rectangular")
    return Cause(
        f"An array needs rows of one length, and these differ.{shape}"
        + ("" if sure else " Or a whole list or array is put where one number belongs."),
        Certainty.CERTAIN if sure else Certainty.LIKELY,
        (
            Step("Sequences: pad them.", "x = keras.utils.pad_sequences(x, maxlen=100)"),
            Step(
                "Pictures: resize them before they are stacked.",
                "x = np.stack([resize(image, (224, 224)) for image in images])",
            ),
            Step("Or keep them ragged.", "x = tf.ragged.constant(x)"),
        ),
    )


MESSAGE = Message(
    id="ragged-rows",
    title="Rows of different lengths do not make an array",
    wordings=(
        Wording(
            "setting an array element with a sequence",
            r"setting an array element with a sequence(?:\. The requested array has an inhomogeneous shape after (?P<axes>\d{1,3}) dimensions?\. The detected shape was (?P<shape>\([\d, ]{0,60}\)))?",
        ),
        Wording("Can't convert non-rectangular Python sequence to Tensor"),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://numpy.org/doc/stable/release/1.24.0-notes.html",),
)
