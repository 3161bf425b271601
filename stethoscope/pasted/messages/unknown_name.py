"""A loss, optimizer, metric or activation whose name is not known."""

from __future__ import annotations

from collections.abc import Mapping

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording

_THINGS = ("optimizer", "loss", "metric", "activation", "initializer", "regularizer", "constraint")


def _of_keras(values: Mapping[str, str]) -> bool:
    """Whether it speaks of a thing that Keras knows by name."""
    return any(word in values["what"] for word in _THINGS)


def _explain(read: Read) -> Cause:
    what, name = read.get("what", "a name").strip(), read.get("name", "it").strip()
    if "object at 0x" in name or "<" in name:
        return Cause(
            f"The {what} is an object that this Keras does not know as one: an optimizer or loss of tf.keras given to keras (or of keras to tf.keras), or of another version.",
            Certainty.LIKELY,
            (
                Step(
                    "Take model and optimizer from one package.",
                    "import keras\nmodel.compile(keras.optimizers.Adam(), 'mse')",
                ),
            ),
        )
    return Cause(
        f"“{name}” is no {what} that Keras knows: misspelt, of another version, or your own and not handed over as an object.",
        Certainty.CERTAIN
        if any(word in what for word in _THINGS) and name.strip("'") not in ("None", "")
        else Certainty.LIKELY,
        (
            Step(
                "Names are in small letters, or classes.",
                "model.compile(optimizer='adam', loss='sparse_categorical_crossentropy', metrics=['accuracy'])",
            ),
            Step("Your own: give the function itself.", "model.compile('adam', loss=focal_loss)"),
        ),
    )


MESSAGE = Message(
    id="unknown-name",
    title="A loss, optimizer, metric or activation whose name is not known",
    wordings=(
        Wording(
            "Could not interpret",
            r"Could not interpret (?P<what>[\w ]{1,40}?)(?: identifier)?: (?P<name>[^{}\"]{1,120}?)(?:$| Traceback|\. )",
            only=_of_keras,
        ),
        Wording("Unknown optimizer", r"Unknown (?P<what>optimizer): '?(?P<name>\w{1,60})", unless="custom_objects"),
        Wording("Unknown activation function", r"Unknown (?P<what>activation function):? ?'?(?P<name>\w{1,60})"),
        Wording(
            "('Could not interpret",
            r"\('Could not interpret (?P<what>[\w ]{1,40}?)(?: identifier)?:', (?P<name>[^{}\"]{1,120}?)\)",
        ),
    ),
    explain=_explain,
    ways=(ways.CHECK,),
    sources=(
        "https://github.com/keras-team/keras/blob/master/keras/src/losses/__init__.py",
        "https://github.com/keras-team/keras/blob/master/keras/src/activations/__init__.py",
    ),
)
