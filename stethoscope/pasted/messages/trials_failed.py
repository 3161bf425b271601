"""Every trial of a search fails."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    limit = f" {read.get('limit')}" if "limit" in read else ""
    return Cause(
        f"KerasTuner stops after{limit} trials in a row that ended in an error. The reason is that error: the last one stands in the text above or below this line, and belongs to the model that the search builds, not to the tuner.",
        Certainty.LIKELY,
        (
            Step(
                "Build and fit one model by hand, then its own error is seen.",
                "model = build_model(keras_tuner.HyperParameters())\nmodel.fit(x, y, epochs=1)",
            ),
            Step(
                "Combinations that cannot be (too many poolings for the size) are turned down in build.",
                "raise keras_tuner.errors.FailedTrialError('too small')",
            ),
        ),
    )


MESSAGE = Message(
    id="trials-failed",
    title="Every trial of a search fails",
    wordings=(
        Wording("Number of consecutive failures", r"the limit of (?P<limit>\d{1,4})"),
        Wording("Number of consecutive failures"),
    ),
    explain=_explain,
    ways=(ways.CHECK,),
    sources=(
        "https://github.com/keras-team/keras-tuner/issues/925",
        "https://github.com/keras-team/keras-tuner/issues/704",
    ),
    rank=-1,
)
