"""A word beside saving and loading that changes nothing for predicting."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Role, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "The file holds weights and computation; what is missing concerns going on with training or calling single layers. For predicting nothing has to be done; for training: compile again.",
        Certainty.CERTAIN,
        (Step("To train on.", "model.compile('adam', 'mse')"),),
    )


MESSAGE = Message(
    id="notice-saving",
    title="A word beside saving and loading that changes nothing for predicting",
    wordings=(
        Wording("Found untraced functions such as"),
        Wording("No training configuration found in the save file"),
        Wording("No training configuration found in save file"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=("https://github.com/keras-team/tf-keras/blob/master/tf_keras/saving/legacy/hdf5_format.py",),
    role=Role.NOTICE,
)
