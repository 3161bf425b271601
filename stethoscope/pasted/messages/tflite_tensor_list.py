"""TFLite and a loop over time."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "A recurrent layer (LSTM, GRU) keeps its steps in a list of tensors, and TFLite lowers such a list only where the shape of an element is fixed: here the batch is open, or the layer is not of a kind that is fused.",
        Certainty.LIKELY,
        (
            Step(
                "Fix the number of rows when converting; then the layer becomes one operation of TFLite.",
                "function = tf.function(lambda x: model(x, training=False))\nspec = tf.TensorSpec([1, steps, features], tf.float32)\nconverter = tf.lite.TFLiteConverter.from_concrete_functions([function.get_concrete_function(spec)], model)",
            ),
            Step("Unroll it, where the number of steps is fixed and small.", "keras.layers.LSTM(64, unroll=True)"),
            Step(
                "Or keep TensorFlow's own operations; the runtime then needs the Flex delegate.",
                "converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS, tf.lite.OpsSet.SELECT_TF_OPS]\nconverter._experimental_lower_tensor_list_ops = False",
            ),
        ),
    )


MESSAGE = Message(
    id="tflite-tensor-list",
    title="TFLite and a loop over time",
    wordings=(
        Wording("op requires element_shape to be static"),
        Wording("op requires element_shape to be 1D tensor"),
        Wording("Lowering tensor list ops is failed"),
    ),
    explain=_explain,
    ways=(ways.CONVERT_TFLITE,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/53101",
        "https://github.com/tensorflow/tensorflow/issues/62849",
    ),
    rank=1,
)
