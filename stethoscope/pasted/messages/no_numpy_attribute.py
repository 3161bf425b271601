"""A tensor of a graph has no value to take out."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import DATA_SET, Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    kind = read.get("type", "Tensor")
    if "Dataset" in kind:
        return Cause(
            "A data set is no tensor; its rows are.",
            Certainty.CERTAIN,
            (
                Step("Go through its rows.", "for image, label in dataset.take(1):\n    print(image.numpy().shape)"),
                Step("Or as an iterator of arrays.", "next(dataset.as_numpy_iterator())"),
            ),
        )
    return Cause(
        f"{kind} is a name for a value in a graph, not a value: .numpy() works in eager execution only, not inside of tf.function, a layer, a loss, or a map of a data set.",
        Certainty.CERTAIN,
        (
            Step("Stay with tensors; print in the graph.", "tf.print(x)"),
            Step(
                "Python code on values inside of a map.",
                "dataset.map(lambda x: tf.py_function(function, [x], tf.float32))",
            ),
            Step("A loss or layer: run without a graph to look for it.", "model.compile(…, run_eagerly=True)"),
            Step(
                "Eager execution that was turned off (compat.v1): turn it on, or use a session.",
                "print(tf.executing_eagerly())",
            ),
        ),
    )


MESSAGE = Message(
    id="no-numpy-attribute",
    title="A tensor of a graph has no value to take out",
    wordings=(
        Wording(
            "has no attribute 'numpy'",
            rf"'(?P<type>SymbolicTensor|Tensor|KerasTensor|Operation|{DATA_SET})' object has no attribute 'numpy'",
        ),
        Wording("numpy() is only available when eager execution is enabled"),
        Wording("has no attribute '_numpy'", r"'(?P<type>\w{0,20}Tensor)' object has no attribute '_numpy'"),
    ),
    explain=_explain,
    ways=(ways.CHECK,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/48801",
        "https://github.com/tensorflow/tensorflow/issues/36979",
    ),
)
