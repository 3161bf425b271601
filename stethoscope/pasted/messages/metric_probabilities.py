"""A metric wants values between 0 and 1 and gets others."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "A metric that counts at thresholds (AUC, Precision, Recall …) got values outside of 0 … 1: the model's last layer gives scores (logits), or the loss applies the sigmoid itself (from_logits=True). NaN reads the same.",
        Certainty.LIKELY,
        (
            Step("Look at what the model gives.", "p = model.predict(x[:100])\nprint(p.min(), p.max())"),
            Step(
                "Say that they are scores, or end the model in a sigmoid.",
                "keras.metrics.AUC(from_logits=True)\nkeras.layers.Dense(1, activation='sigmoid')",
            ),
        ),
    )


MESSAGE = Message(
    id="metric-probabilities",
    title="A metric wants values between 0 and 1 and gets others",
    wordings=(Wording("predictions must be <= 1"), Wording("predictions must be >= 0")),
    explain=_explain,
    ways=(ways.PREDICT, ways.ACTIVATIONS),
    sources=("https://github.com/tensorflow/tensorflow/issues/56962",),
)
