"""A class of one's own does not run `__init__` of Keras first."""

from __future__ import annotations

from collections.abc import Mapping

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording
from stethoscope.pasted.raised.members import owner, packages_with


def _of_layers(values: Mapping[str, str]) -> bool:
    """A class that is not of the frameworks, and what every layer, model or metric has."""
    return not packages_with(values["type"]) and bool(
        owner(values["attribute"], ("Layer", "Model", "Functional", "Metric", "Optimizer"))
    )


def _explain(read: Read) -> Cause:
    if "attribute" not in read and read.says("deepcopy", "copy.py", "pickle", "joblib"):
        return Cause(
            "An object of a Keras class was copied or unpickled, which makes it without running its `__init__`; or a class of your own does not run the one of Keras first.",
            Certainty.LIKELY,
            (
                Step(
                    "Copy a model by Keras.",
                    "copy = keras.models.clone_model(model)\ncopy.set_weights(model.get_weights())",
                ),
            ),
        )
    kind = read.get("type", "The class")
    asked = f" “{read.get('attribute')}” is set there, and {kind} has it not." if "attribute" in read else ""
    return Cause(
        f"A class that derives from one of Keras has to run its `__init__` before anything else.{asked}",
        Certainty.LIKELY if "attribute" in read else Certainty.CERTAIN,
        (
            Step(
                "First line of the constructor; with the class's own name, or none.",
                "class MyLayer(keras.layers.Layer):\n    def __init__(self, units, **kwargs):\n        super().__init__(**kwargs)   # not super(Layer, self)\n        self.units = units",
            ),
            Step("All bases out of one package: keras or tf.keras, not both."),
        ),
    )


MESSAGE = Message(
    id="layer-not-initialised",
    title="A class of one's own does not run __init__ of Keras first",
    wordings=(
        Wording("You must call `super().__init__()` in the layer constructor"),
        Wording(
            "calling `super().__init__()`", r"forgot to call|before calling `super\(\)\.__init__\(\)`|without calling"
        ),
        Wording("you forgot to call `super().__init__()`"),
        Wording("It looks like you are subclassing `Model` and you forgot to call"),
        Wording("should call `super().__init__(**kwargs)` in its constructor"),
        Wording(
            "object has no attribute '",
            r"'(?P<type>[A-Za-z_]\w{0,60})' object has no attribute '(?P<attribute>_\w{1,60}|built)'",
            only=_of_layers,
        ),
    ),
    explain=_explain,
    ways=(ways.LAYERS,),
    sources=(
        "https://github.com/keras-team/keras/issues/2584",
        "https://github.com/tensorflow/tensorflow/issues/29562",
        "https://github.com/wzhe06/SparrowRecSys/pull/34",
    ),
)
