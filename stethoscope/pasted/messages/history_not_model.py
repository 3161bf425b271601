"""The result of fit is not the model."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        f"fit gives back the history of the training, not the model, and “{read.get('attribute', 'predict')}” was asked of that: the variable of the model was overwritten.",
        Certainty.CERTAIN,
        (Step("Keep both.", "history = model.fit(x, y)\nmodel.predict(x)"),),
    )


MESSAGE = Message(
    id="history-not-model",
    title="The result of fit is not the model",
    wordings=(
        Wording("'History' object has no attribute", r"'History' object has no attribute '(?P<attribute>\w{1,40})'"),
    ),
    explain=_explain,
    ways=(ways.CURVES,),
    sources=("https://github.com/keras-team/keras/blob/master/keras/src/callbacks/history.py",),
)
