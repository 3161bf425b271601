"""The file uses an operation that is not loaded."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    operation = read.get("operation", "an operation")
    text = operation.startswith(
        (
            "CaseFold",
            "Regex",
            "Sentencepiece",
            "Wordpiece",
            "Normalize",
            "UnicodeScript",
            "FastWord",
            "FastBert",
            "TFText",
            "Tokenize",
            "SplitMerge",
            "RoundRobin",
            "MaxSpan",
            "Sentence",
        )
    )
    more = (
        "tensorflow_text"
        if text
        else "the package that brings it (tensorflow_text, tensorflow_decision_forests, tensorflow_addons, tensorflow_io)"
    )
    return Cause(
        f"“{operation}” is no operation of TensorFlow itself; {more} has to be imported before the model is loaded"
        + (
            ", in the version of TensorFlow's own."
            if text
            else ", or the file is of a newer TensorFlow, or of a card's build (TensorRT, Edge TPU)."
        ),
        Certainty.LIKELY,
        (
            Step(
                "Install it in the same version, import it, then load.",
                "python -m pip install 'tensorflow-text==2.18.*'   # as TensorFlow\nimport tensorflow_text\nmodel = tf.saved_model.load('folder')",
            ),
        ),
    )


MESSAGE = Message(
    id="operation-not-registered",
    title="The file uses an operation that is not loaded",
    wordings=(Wording("Op type not registered", r"Op type not registered '(?P<operation>[\w>]{1,80})'"),),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=(
        "https://www.tensorflow.org/text/guide/tf_text_intro",
        "https://github.com/tensorflow/tensorflow/blob/master/tensorflow/core/framework/op.cc",
    ),
)
