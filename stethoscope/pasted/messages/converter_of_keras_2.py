"""A converter that was made for Keras 2."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if read.says("keras standalone converter is used"):
        return Cause(
            "keras2onnx reads the variable TF_KERAS when it is imported; it was not set then, so it waits for models of keras and got one of tf.keras.",
            Certainty.CERTAIN,
            (
                Step("Set it before the import.", "import os\nos.environ['TF_KERAS'] = '1'\nimport keras2onnx"),
                Step(
                    "keras2onnx is no longer kept up; tf2onnx is.",
                    "python -m tf2onnx.convert --saved-model folder --output model.onnx",
                ),
            ),
        )
    kind = read.get("kind", "the model")
    return Cause(
        f"The converter asks {kind} for “{read.get('attribute', 'an attribute')}”, which models of Keras 2 have and those of Keras 3 do not.",
        Certainty.LIKELY,
        (
            Step("Keras 3 exports to ONNX by itself.", 'model.export("model.onnx", format="onnx")'),
            Step(
                "Or convert a function with a fixed signature.",
                "function = tf.function(lambda x: model(x, training=False), input_signature=[tf.TensorSpec((None, 4), tf.float32, name='x')])\ntf2onnx.convert.from_function(function, function.input_signature, output_path='model.onnx')",
            ),
            Step(
                "A newer tf2onnx knows Keras 3 in part; a Sequential wants its names set.",
                "model.output_names = ['output']",
            ),
        ),
    )


MESSAGE = Message(
    id="converter-of-keras-2",
    title="A converter that was made for Keras 2",
    wordings=(
        Wording("This is a tensorflow keras model, but keras standalone converter is used"),
        Wording(
            "object has no attribute 'output_names'",
            r"'(?P<kind>\w{1,60})' object has no attribute '(?P<attribute>output_names)'",
        ),
        Wording(
            "object has no attribute '_get_save_spec'",
            r"'(?P<kind>\w{1,60})' object has no attribute '(?P<attribute>_get_save_spec)'",
        ),
    ),
    explain=_explain,
    ways=(ways.CONVERT_ONNX,),
    sources=(
        "https://github.com/onnx/tensorflow-onnx/issues/2348",
        "https://github.com/onnx/tensorflow-onnx/issues/2329",
    ),
)
