"""The loss does not depend on any weight."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "Between the loss and the weights the path is cut, so there is no gradient to follow: argmax, rounding, a comparison or a cast to whole numbers; NumPy or .numpy() in the loss; a computation outside of the tape; a loss that does not use the output at all (fit without targets, loss=None); or weights of another model that are asked for.",
        Certainty.LIKELY if "some" in read else Certainty.CERTAIN,
        (
            Step(
                "See where it is cut: which gradients are None.",
                "with tf.GradientTape() as tape:\n    loss = loss_function(y, model(x, training=True))\nprint([v.name for v, g in zip(model.trainable_variables, tape.gradient(loss, model.trainable_variables)) if g is None])",
            ),
            Step(
                "argmax and rounding belong into metrics; a loss takes the scores themselves.",
                "loss = keras.losses.sparse_categorical_crossentropy(y, scores)",
            ),
            Step(
                "A data set has to give targets, and compile has to name a loss.",
                "print(dataset.element_spec)   # (inputs, targets)",
            ),
        ),
    )


MESSAGE = Message(
    id="no-gradient",
    title="The loss does not depend on any weight",
    wordings=(
        Wording(
            "No gradients provided for any variable",
            r"No gradients provided for any variable(?:: \(?\[(?P<variables>[^\]]{1,200}))?",
        ),
        Wording(
            "has `None` for gradient",
            r"(?:<tf\.Variable '(?P<variables>[^']{1,100})')?.{0,80}has `(?P<some>None)` for gradient",
        ),
        Wording("An operation has `None` for gradient", r"`(?P<some>None)`"),
    ),
    explain=_explain,
    ways=(ways.CHECK, ways.ACTIVATIONS),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/1511",
        "https://github.com/tensorflow/tensorflow/issues/1841",
        "https://github.com/tensorflow/tensorflow/issues/47214",
    ),
)
