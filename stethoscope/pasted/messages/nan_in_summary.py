"""Weights or activations that are logged are NaN."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    tensor = f"“{read.get('tensor')}”" if "tensor" in read else "A tensor"
    return Cause(
        f"{tensor} held NaN when its histogram was to be written: something before it had gone to NaN. The summary only noticed it.",
        Certainty.CERTAIN,
        (
            Step(
                "Look at the loss of the steps before; then rate, clipping, data.",
                "keras.optimizers.Adam(1e-4, clipnorm=1.0)\nprint(np.isfinite(x).all(), np.isfinite(y).all())",
            ),
            Step("Stop where it begins.", "callbacks=[keras.callbacks.TerminateOnNaN()]"),
        ),
    )


MESSAGE = Message(
    id="nan-in-summary",
    title="Weights or activations that are logged are NaN",
    wordings=(Wording("Nan in summary histogram for", r"Nan in summary histogram for: (?P<tensor>[\w/.:-]{1,160})"),),
    explain=_explain,
    ways=(ways.CURVES, ways.CHECK),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/4592",
        "https://github.com/tensorflow/models/issues/9986",
        "https://github.com/vanhuyz/CycleGAN-TensorFlow/issues/68",
    ),
)
