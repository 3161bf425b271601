"""A tensor is used as the key of a dictionary."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    feed = (
        " Here it is the feed_dict of a session, which is code for TensorFlow 1."
        if read.says("feed_dict", "learning_phase", "session", "sess.run")
        else ""
    )
    if "type" in read and read.get("type") not in ("Tensor", "Variable"):
        return Cause(
            f"A value of type {read.get('type')} is a key of a dictionary or a member of a set, which has to be a number, a text or a tuple: often it stands where a tensor or a name is wanted (feed_dict, a list of layers).",
            Certainty.LIKELY,
            (Step("As a key, a tuple or a text.", "key = tuple(values)"),),
        )
    return Cause(
        f"Since TensorFlow 2 a tensor cannot be a key of a dict or a member of a set: code for TensorFlow 1, or a Python dict that is asked inside of map.{feed}",
        Certainty.LIKELY,
        (
            Step("Code for TensorFlow 1 as it is.", "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()"),
            Step("Instead of feeding: call the model.", "boxes = model(image, training=False)"),
            Step("A dictionary inside of map: a table.", "table = keras.layers.StringLookup(vocabulary=words)"),
            Step("As a key, where you want one.", "d[x.ref()] = 1"),
        ),
    )


MESSAGE = Message(
    id="tensor-unhashable",
    title="A tensor is used as the key of a dictionary",
    wordings=(
        Wording("is unhashable if Tensor equality is enabled", r"(?P<type>Tensor|Variable) is unhashable"),
        Wording("is unhashable. Instead, use tensor.ref() as the key", r"(?P<type>Tensor|Variable) is unhashable"),
        Wording("Tensors are unhashable"),
        Wording("unhashable type: 'KerasTensor'"),
        Wording("unhashable type: 'numpy.ndarray'", r"unhashable type: '(?P<type>numpy\.ndarray)'"),
        Wording("unhashable type: 'list'", r"unhashable type: '(?P<type>list)'", beside="ensorflow"),
        Wording("unhashable type: 'list'", r"unhashable type: '(?P<type>list)'", beside="keras"),
        Wording("unhashable type: 'dict'", r"unhashable type: '(?P<type>dict)'"),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=(
        "https://github.com/sthanhng/yoloface/issues/42",
        "https://github.com/qqwweee/keras-yolo3/issues/646",
        "https://github.com/tensorflow/tensorflow/issues/35127",
    ),
)
