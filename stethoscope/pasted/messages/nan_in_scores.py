"""NaN reached a function of scikit-learn."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    lost = (
        " The loss is NaN in the lines above: the network gives NaN, and with that its predictions."
        if read.says("loss: nan", "loss=nan")
        else ""
    )
    return Cause(
        f"An array with NaN or infinity was given to a metric or another function of scikit-learn: empty cells of a table, or predictions of a network whose training went to NaN.{lost}",
        Certainty.LIKELY,
        (
            Step(
                "See in which of them it is.",
                "for name, values in {'x': x, 'y': y, 'predicted': predicted}.items():\n    print(name, np.isnan(values).sum(), np.isinf(values).sum())",
            ),
            Step(
                "In the network: a smaller rate, inputs of the size of one, norms kept small.",
                "keras.optimizers.Adam(1e-4, clipnorm=1.0)",
            ),
        ),
    )


MESSAGE = Message(
    id="nan-in-scores",
    title="NaN reached a function of scikit-learn",
    wordings=(
        Wording("Input contains NaN, infinity or a value too large for dtype"),
        Wording("Input contains infinity or a value too large for dtype"),
        Wording("ValueError: Input contains NaN"),
        Wording("ValueError: Input X contains NaN"),
        Wording("ValueError: Input y contains NaN"),
    ),
    explain=_explain,
    ways=(ways.CHECK, ways.ACTIVATIONS),
    sources=(
        "https://github.com/XifengGuo/DEC-DA/issues/1",
        "https://github.com/taoyilee/Keras_MedicalImgAI/issues/1",
        "https://github.com/craymichael/CNN_LCD/issues/15",
    ),
)
