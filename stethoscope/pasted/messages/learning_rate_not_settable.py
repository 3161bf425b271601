"""A callback wants to set a rate that a schedule sets."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "The optimizer got a schedule, which sets the rate at each step; ReduceLROnPlateau and LearningRateScheduler want to set it, too.",
        Certainty.CERTAIN,
        (
            Step(
                "One of them: a number with the callback …",
                "keras.optimizers.Adam(0.001)\ncallbacks=[keras.callbacks.ReduceLROnPlateau(patience=3)]",
            ),
            Step(
                "… or the schedule alone.",
                "keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(0.001, 10_000))",
            ),
        ),
    )


MESSAGE = Message(
    id="learning-rate-not-settable",
    title="A callback wants to set a rate that a schedule sets",
    wordings=(
        Wording('Optimizer must have a "lr" attribute'),
        Wording('Optimizer must have a "learning_rate" attribute'),
        Wording("hence its learning rate is not settable"),
        Wording("'learning rate is not settable'"),
        Wording("learning rate is not settable"),
    ),
    explain=_explain,
    ways=(ways.CHECK,),
    sources=("https://github.com/keras-team/keras/blob/master/keras/src/optimizers/base_optimizer.py",),
)
