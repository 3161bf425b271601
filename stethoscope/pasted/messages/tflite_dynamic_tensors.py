"""A delegate of TFLite wants fixed shapes."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    tensor = f" (tensor {read.get('tensor')})" if "tensor" in read else ""
    return Cause(
        f"The delegate (XNNPACK, GPU, NNAPI) takes tensors of fixed size, and the model has one{tensor} whose size is only known while it runs.",
        Certainty.CERTAIN,
        (
            Step(
                "Convert with fixed shapes.",
                "model = keras.Sequential([keras.Input(batch_shape=(1, 224, 224, 3)), model])",
            ),
            Step(
                "Or run it without the delegate.",
                "tf.lite.Interpreter('model.tflite', experimental_op_resolver_type=tf.lite.experimental.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)",
            ),
        ),
    )


MESSAGE = Message(
    id="tflite-dynamic-tensors",
    title="A delegate of TFLite wants fixed shapes",
    wordings=(
        Wording(
            "only supports static-sized tensors with a graph that has dynamic-sized tensors",
            r"\(tensor#(?P<tensor>\d{1,6}) is a dynamic-sized tensor\)",
        ),
        Wording("only supports static-sized tensors with a graph that has dynamic-sized tensors"),
    ),
    explain=_explain,
    ways=(ways.CONVERT_TFLITE, ways.DESCRIBE),
    sources=("https://github.com/PINTO0309/Tensorflow-bin/issues/45",),
)
