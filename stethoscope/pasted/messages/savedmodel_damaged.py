"""The SavedModel does not read."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "The file saved_model.pb is not what it should be: cut off while it was copied, a pointer of Git LFS, text, or a graph of another kind (a frozen graph is no SavedModel).",
        Certainty.LIKELY,
        (
            Step(
                "See its size and how it begins.",
                "ls -l model/saved_model.pb model/variables\nhead -c 200 model/saved_model.pb",
            ),
            Step("Copy the whole folder again (variables/ too)."),
            Step(
                "A frozen graph of TensorFlow 1 is loaded otherwise.",
                "graph = tf.compat.v1.GraphDef.FromString(open('frozen.pb', 'rb').read())",
            ),
        ),
    )


MESSAGE = Message(
    id="savedmodel-damaged",
    title="The SavedModel does not read",
    wordings=(
        Wording("Error parsing message with type 'tensorflow.SavedModel'"),
        Wording("Cannot parse file", r"Cannot parse file b?'?(?P<file>[^\s']{1,160}saved_model\.pb)"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=("https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/python/saved_model/loader_impl.py",),
    rank=1,
)
