"""What is exported uses a variable or table that the object does not hold."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "A function that is saved uses a variable, table or layer that stands outside of the saved object (a global, a plain list, a StringLookup made elsewhere), so it would be missing from the file.",
        Certainty.CERTAIN,
        (
            Step(
                "Keep it as an attribute of what is saved.",
                "class Served(tf.Module):\n    def __init__(self, model, table):\n        self.model, self.table = model, table",
            ),
            Step(
                "Keras 3: export the model with its parts.",
                "archive = keras.export.ExportArchive()\narchive.track(model)",
            ),
        ),
    )


MESSAGE = Message(
    id="untracked-resource",
    title="What is exported uses a variable or table that the object does not hold",
    wordings=(
        Wording("Tried to export a function which references", r"references (?:an )?'?untracked'?"),
        Wording("untracked resource"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=("https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/saved_model/save.py",),
)
