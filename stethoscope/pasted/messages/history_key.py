"""The history of a training has no value of this name."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    key = read.get("key", "the name")
    told = {"acc": "it is “accuracy” today", "val_acc": "it is “val_accuracy” today"}.get(
        key, "it is not among what was measured"
    )
    validation = " A name with val_ needs validation data." if key.startswith("val_") else ""
    if not read.says("history"):
        return Cause(
            f"There is no “{key}” in what was looked up. If that is the history of a training: {told}, or the metric was given under another name.{validation}",
            Certainty.POSSIBLE,
            (Step("See the names.", "print(history.history.keys())"),),
        )
    return Cause(
        f"history has no “{key}”: {told}, or the metric was given under another name.{validation}",
        Certainty.LIKELY,
        (
            Step("See the names.", "print(history.history.keys())"),
            Step(
                "Ask for it.",
                "model.compile('adam', loss, metrics=['accuracy'])\nmodel.fit(x, y, validation_split=0.2)",
            ),
        ),
    )


MESSAGE = Message(
    id="history-key",
    title="The history of a training has no value of this name",
    wordings=(
        Wording(
            "KeyError",
            r"KeyError: '(?P<key>(?:val_)?(?:acc|accuracy|loss|auc|mae|mse|precision|recall|categorical_accuracy|sparse_categorical_accuracy|binary_accuracy|mean_absolute_error|f1|dice_coef|lr|learning_rate))'",
        ),
    ),
    explain=_explain,
    ways=(ways.CURVES,),
    sources=("https://github.com/keras-team/keras/blob/master/keras/src/callbacks/history.py",),
)
