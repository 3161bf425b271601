"""A subclassed model does not fit into HDF5."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "The HDF5 format holds the layers of Functional and Sequential models only; a model that is a class of one's own is code, and cannot be written there.",
        Certainty.CERTAIN,
        (
            Step("Save its weights, and build it from code.", "model.save_weights('model.weights.h5')"),
            Step("Or in the .keras format, with get_config.", "model.save('model.keras')"),
            Step("To serve it: as a SavedModel.", "model.export('folder')"),
        ),
    )


MESSAGE = Message(
    id="subclassed-to-h5",
    title="A subclassed model does not fit into HDF5",
    wordings=(
        Wording("Saving the model to HDF5 format requires the model to be a Functional model or a Sequential model"),
        Wording("requires the model to be a Functional model or a Sequential model"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=("https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/python/keras/saving/save.py",),
)
