"""A weight of Keras 3 is no tf.Variable."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    named = f"“{read.get('variable')}”" if "variable" in read else "A weight"
    return Cause(
        f"{named} is a variable of Keras 3, and tape.watch (or another function of TensorFlow) was given it, which takes those of TensorFlow only. Weights that are trained need no watch.",
        Certainty.LIKELY,
        (
            Step("Leave watch away for weights: the tape sees them by itself."),
            Step(
                "Where a tf.Variable is wanted, take what is inside.",
                "tape.watch([weight.value for weight in model.trainable_variables])",
            ),
            Step(
                "Code for Keras 2 as it is.",
                "pip install tf_keras\nexport TF_USE_LEGACY_KERAS=1   # before Python starts",
            ),
        ),
    )


MESSAGE = Message(
    id="keras-variable",
    title="A weight of Keras 3 is no tf.Variable",
    wordings=(
        Wording("Passed in object <KerasVariable", r"object <KerasVariable .{0,80}?path=(?P<variable>[\w/.-]{1,120})"),
        Wording("Passed in object <Variable path=", r"path=(?P<variable>[\w/.-]{1,120})"),
        Wording("not tf.Tensor or tf.Variable or ExtensionType"),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=("https://github.com/keras-team/keras/issues/19874",),
)
