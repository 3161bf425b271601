"""A tensor whose number of axes is not known."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    cause = "A Python function inside the data set (py_function, numpy_function, from_generator without shapes) gives tensors of unknown shape, and a layer or a metric needs to know the axes."
    return Cause(
        cause,
        Certainty.LIKELY,
        (
            Step(
                "Say the shape right after the Python function.",
                "def load(path):\n    image, label = tf.py_function(read, [path], [tf.float32, tf.int32])\n    image.set_shape((224, 224, 3))\n    label.set_shape(())\n    return image, label",
            ),
            Step(
                "A generator: give the signature with shapes.",
                "tf.data.Dataset.from_generator(rows, output_signature=(tf.TensorSpec((None, 3), tf.float32), tf.TensorSpec((), tf.int32)))",
            ),
            Step("See what is known.", "print(dataset.element_spec)"),
        ),
    )


MESSAGE = Message(
    id="unknown-rank",
    title="A tensor whose number of axes is not known",
    wordings=(
        Wording("as_list() is not defined on an unknown TensorShape"),
        Wording("Cannot take the length of shape with unknown rank"),
        Wording("shape with unknown rank"),
        Wording("input tensor must have known rank"),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/49238",
        "https://github.com/tensorflow/tensorflow/issues/82637",
        "https://github.com/tensorflow/tensorflow/issues/59726",
    ),
)
