"""The file holds code of a Lambda layer, which Keras does not run unasked."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "A Lambda layer keeps a Python lambda as bytecode, and loading it runs code of whoever wrote the file; Keras refuses it unless it is told to trust the file.",
        Certainty.CERTAIN,
        (
            Step("Your own file: say so.", "model = keras.models.load_model('model.keras', safe_mode=False)"),
            Step(
                "Better: a layer instead of the lambda; then the file holds no code.",
                "@keras.saving.register_keras_serializable()\nclass Double(keras.layers.Layer):\n    def call(self, x):\n        return x * 2",
            ),
            Step("A file of somebody else: look at what it holds first, without loading it."),
        ),
    )


MESSAGE = Message(
    id="lambda-unsafe",
    title="The file holds code of a Lambda layer, which Keras does not run unasked",
    wordings=(
        Wording(
            "Requested the deserialization of a `Lambda` layer", r"Requested the deserialization of a `Lambda` layer"
        ),
        Wording("Requested the deserialization of a Lambda layer"),
        Wording("layer is a Python lambda. Deserialization is unsafe"),
        Wording(
            "Deserializing it is unsafe. If you trust the source of the config artifact",
            r"[Ll]ambda.{0,300}?Deserializing it is unsafe",
        ),
        Wording("passing `safe_mode=False`", r"Python `?lambda`?|`Lambda` layer|`lambda` object"),
        Wording("you can pass `safe_mode=False`", r"Python `?lambda`?|`lambda` object"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=(
        "https://github.com/keras-team/keras/pull/23048",
        "https://github.com/keras-team/tf-keras/pull/910",
        "https://keras.io/guides/serialization_and_saving/",
    ),
)
