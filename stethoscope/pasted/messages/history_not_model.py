"""The result of fit is not the model."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording
from stethoscope.pasted.raised.members import owner


def _explain(read: Read) -> Cause:
    if not owner(read.get("attribute", "predict"), ("Model", "Functional", "Sequential")):
        return Cause(
            f"fit gives back a History, and it has no “{read.get('attribute')}”: the numbers stand in its dictionary “history”.",
            Certainty.LIKELY,
            (Step("See what it holds.", "history = model.fit(x, y)\nprint(history.history.keys())"),),
        )
    return Cause(
        f"fit gives back the history of the training, not the model, and “{read.get('attribute', 'predict')}” was asked of that: the variable of the model was overwritten, or the two were mixed up.",
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
