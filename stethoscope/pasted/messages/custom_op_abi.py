"""A library of operators was built for another TensorFlow."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    library = read.get("library", "The library")
    return Cause(
        f"{library} asks for a function that this TensorFlow does not have: it was compiled for another version, with another ABI flag of C++, or was not linked with TensorFlow's framework library.",
        Certainty.CERTAIN if "tensorflow" in read.get("symbol") else Certainty.LIKELY,
        (
            Step(
                "Compile it again with this TensorFlow's own flags.",
                "TF_CFLAGS=$(python -c 'import tensorflow as tf; print(*tf.sysconfig.get_compile_flags())')\nTF_LFLAGS=$(python -c 'import tensorflow as tf; print(*tf.sysconfig.get_link_flags())')\ng++ -std=c++17 -shared op.cc -o op.so -fPIC $TF_CFLAGS $TF_LFLAGS -O2",
            ),
            Step(
                "Of a package: take the release that goes with this TensorFlow (tensorflow-text, tensorflow-addons, horovod …)."
            ),
        ),
    )


MESSAGE = Message(
    id="custom-op-abi",
    title="A library of operators was built for another TensorFlow",
    wordings=(
        Wording(
            "undefined symbol: _Z",
            r"(?P<library>[^\s:'\"]{1,160}\.so[\d.]{0,8}): undefined symbol: (?P<symbol>_Z\w{0,200}tensorflow\w{0,200})",
        ),
        Wording(
            "undefined symbol: _Z",
            r"(?P<library>(?![^\s:'\"]{1,200}torch)[^\s:'\"]{1,200}(?:tensorflow|tflite|keras|horovod|tf_)[^\s:'\"]{0,160}\.so[\d.]{0,8}): undefined symbol: (?P<symbol>_Z\w{0,200})",
        ),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=(
        "https://github.com/tensorflow/custom-op/issues/96",
        "https://github.com/tensorflow/tensorflow/issues/22432",
        "https://github.com/tensorflow/serving/issues/880",
    ),
)
