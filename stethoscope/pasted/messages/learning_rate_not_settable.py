"""A callback wants to set a rate that a schedule sets."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if "name" in read:
        return Cause(
            f"A callback asks the optimizer for “{read.get('name')}” and it has none: an optimizer of tf.train or of another package, one in a wrapper, or one of another Keras than the callback (it was called lr before, learning_rate today).",
            Certainty.LIKELY,
            (
                Step(
                    "Optimizer and callback out of one package.",
                    "model.compile(keras.optimizers.Adam(0.001), 'mse')\nkeras.callbacks.LearningRateScheduler(schedule)",
                ),
            ),
        )
    return Cause(
        "The optimizer got a schedule, which sets the rate at each step; and something else sets it, too: ReduceLROnPlateau, LearningRateScheduler, or a line of your own.",
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
        Wording('Optimizer must have a "lr" attribute', r'"(?P<name>lr)"'),
        Wording('Optimizer must have a "learning_rate" attribute', r'"(?P<name>learning_rate)"'),
        Wording("hence its learning rate is not settable"),
        Wording("'learning rate is not settable'"),
        Wording("learning rate is not settable"),
    ),
    explain=_explain,
    ways=(ways.CHECK,),
    sources=("https://github.com/keras-team/keras/blob/master/keras/src/optimizers/base_optimizer.py",),
)
