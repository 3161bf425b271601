"""The file holds weights and no model."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "There is no model in the file to load: it holds weights only (save_weights, or a ModelCheckpoint with save_weights_only=True), or something else altogether.",
        Certainty.LIKELY if read.says("of null") else Certainty.CERTAIN,
        (
            Step(
                "Build the model as it was, then load its weights.",
                "model = build()\nmodel.load_weights('model.weights.h5')",
            ),
            Step("Next time save all of it.", "model.save('model.keras')"),
        ),
    )


MESSAGE = Message(
    id="weights-only-file",
    title="The file holds weights and no model",
    wordings=(
        Wording("Cannot read property 'model_config' of null"),
        Wording("No model config found in the file"),
        Wording("No model found in config file"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=("https://github.com/keras-team/keras/blob/master/keras/src/legacy/saving/legacy_h5_format.py",),
)
