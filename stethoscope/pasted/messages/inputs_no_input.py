"""The inputs of a model have to be Inputs."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if read.says("previous layer metadata") and read.says("deserializ", "load", ">"):
        return Cause(
            "A model is put together from something that is no Input. When it is loaded: the module with its own classes was not imported first, so a class was rebuilt as a plain model.",
            Certainty.POSSIBLE,
            (
                Step(
                    "Import what registers the classes, or name them.",
                    "import my_layers\nmodel = keras.models.load_model('model.keras', custom_objects={'MyModel': my_layers.MyModel})",
                ),
                Step(
                    "When it is built: begin with an Input.",
                    "x = keras.Input((28, 28))\nmodel = keras.Model(x, head(x))",
                ),
            ),
        )
    return Cause(
        "keras.Model(inputs, outputs) got something else than Inputs and what was made of them: an array, a plain tensor, a layer instead of its output, or tensors of another Keras.",
        Certainty.CERTAIN,
        (
            Step(
                "Begin with an Input, and hand over tensors, not layers.",
                "x = keras.Input((28, 28))\nmodel = keras.Model(inputs=x, outputs=keras.layers.Dense(10)(x))",
            ),
            Step("Of a model that exists:", "keras.Model(model.inputs, model.layers[-2].output)"),
        ),
    )


MESSAGE = Message(
    id="inputs-no-input",
    title="The inputs of a model have to be Inputs",
    wordings=(
        Wording("values must be KerasTensors"),
        Wording("must come from `tf.keras.Input`"),
        Wording("must come from `tf.layers.Input`"),
        Wording("must be Keras tensors"),
    ),
    explain=_explain,
    ways=(ways.LAYERS,),
    sources=(
        "https://github.com/keras-team/keras/blob/master/keras/src/models/functional.py",
        "https://github.com/tensorflow/tensorflow/issues/48312",
    ),
)
