"""The state of the optimizer was not loaded."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Role, Step, Wording


def _explain(read: Read) -> Cause:
    counts = f" It has {read.get('model')} values here and {read.get('file')} in the file." if "file" in read else ""
    return Cause(
        f"Weights were loaded, the optimizer's own state (moments, step) was not.{counts} For predicting it does not matter; a training that goes on begins with a fresh optimizer. Usual causes: layers that are frozen now and were not then, or an optimizer that is not built yet.",
        Certainty.CERTAIN,
        (
            Step("Predict only: load without it.", "model = keras.models.load_model('model.keras', compile=False)"),
            Step("Train on: freeze and unfreeze as it was before saving."),
        ),
    )


MESSAGE = Message(
    id="optimizer-state",
    title="The state of the optimizer was not loaded",
    wordings=(
        Wording(
            "Skipping variable loading for optimizer",
            r"for optimizer '(?P<optimizer>[\w.-]{1,60})', because it has (?P<model>\d{1,6}) variables whereas the saved optimizer has (?P<file>\d{1,6}) variables",
        ),
        Wording("Error in loading the saved optimizer state"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=("https://github.com/keras-team/keras/blob/master/keras/src/optimizers/base_optimizer.py",),
    role=Role.WARNING,
)
