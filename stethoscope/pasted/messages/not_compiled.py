"""The model is trained or evaluated without compile."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "fit and evaluate need to know loss, optimizer and metrics, which compile sets. A model that was loaded with compile=False, made anew, or is inside of another one has none.",
        Certainty.CERTAIN,
        (
            Step(
                "Compile it.",
                "model.compile(optimizer='adam', loss='sparse_categorical_crossentropy', metrics=['accuracy'])",
            ),
            Step("predict needs no compile.", "model.predict(x)"),
        ),
    )


MESSAGE = Message(
    id="not-compiled",
    title="The model is trained or evaluated without compile",
    wordings=(
        Wording("You must compile your model before using it"),
        Wording("You must call `compile()` before"),
        Wording("You must compile your model before training/testing"),
        Wording("You must compile a model before training/testing"),
        Wording("The model needs to be compiled before being used"),
    ),
    explain=_explain,
    ways=(ways.CHECK,),
    sources=("https://github.com/keras-team/keras/blob/master/keras/src/trainers/trainer.py",),
)
