"""An argument that the optimizer no longer takes."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if "other" in read:
        return Cause(
            f"“{read.get('other')}” is no argument of this optimizer: it is misspelt, of another version of Keras, or of another optimizer.",
            Certainty.CERTAIN,
            (Step("See what it takes.", "help(keras.optimizers.Adam)"),),
        )
    argument = read.get("argument", "It")
    how = {"lr": "learning_rate", "decay": "a schedule", "epsilon": "epsilon"}.get(argument, "another name")
    return Cause(
        f"“{argument}” is of an older Keras; today it is {how}.",
        Certainty.LIKELY if "class" in read else Certainty.CERTAIN,
        (
            Step("The rate.", "keras.optimizers.Adam(learning_rate=0.001)"),
            Step(
                "decay is a schedule now.",
                "schedule = keras.optimizers.schedules.ExponentialDecay(0.001, decay_steps=10_000, decay_rate=0.96)\nkeras.optimizers.Adam(schedule)",
            ),
            Step("Old optimizers as they were.", "import tf_keras\ntf_keras.optimizers.legacy.Adam(lr=0.001)"),
        ),
    )


MESSAGE = Message(
    id="optimizer-argument",
    title="An argument that the optimizer no longer takes",
    wordings=(
        Wording("Argument(s) not recognized: {", r"not recognized: \{'(?:(?P<argument>lr|decay)|(?P<other>\w{1,40}))'"),
        Wording("The `lr` argument is deprecated", r"`(?P<argument>lr)`"),
        Wording("`lr` is deprecated", r"`(?P<argument>lr)`"),
        Wording("decay is deprecated in the new Keras optimizer", r"(?P<argument>decay) is deprecated"),
        Wording(
            "is not a valid argument, kwargs should be empty for `optimizer_experimental.Optimizer`",
            r"(?:(?P<argument>lr|decay)|(?P<other>\w{1,40})) is not a valid argument",
        ),
        Wording(
            "has no attribute 'lr'",
            r"'(?P<class>Adam|AdamW|Adamax|Adagrad|Adadelta|Nadam|Ftrl|SGD|RMSprop|Lion|Adafactor|LossScaleOptimizer\w{0,3}|\w{0,20}Optimizer)' object has no attribute '(?P<argument>lr)'",
        ),
    ),
    explain=_explain,
    ways=(ways.CHECK,),
    sources=("https://github.com/keras-team/keras/blob/master/keras/src/optimizers/base_optimizer.py",),
)
