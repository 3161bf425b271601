"""A file name that does not say in which format to save."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if "format" in read:
        return Cause(
            "save_format is given, and this Keras does not take it (or not this value): the format follows from the end of the name, .keras or .h5.",
            Certainty.CERTAIN,
            (Step("Leave it out.", "model.save('model.keras')"),),
        )
    file, wanted = read.get("file").strip(".") or "The name", read.get("wanted", ".keras")
    return Cause(
        f"“{file}” does not end in {wanted}, and Keras 3 takes the format from the name: .keras for a model, .weights.h5 for weights alone, .h5 for the old format. A folder (SavedModel) is made by export.",
        Certainty.CERTAIN,
        (
            Step(
                "Name it so.",
                "model.save('model.keras')\nmodel.save_weights('model.weights.h5')\nkeras.callbacks.ModelCheckpoint('best.keras', save_best_only=True)",
            ),
            Step("For TFLite and serving.", "model.export('folder')"),
        ),
    )


MESSAGE = Message(
    id="file-suffix",
    title="A file name that does not say in which format to save",
    wordings=(
        Wording(
            "The filepath provided must end in",
            r"must end in `(?P<wanted>[\w.]{1,30})`.{0,60}?Received: filepath=(?P<file>\S{1,120})",
        ),
        Wording("Invalid filepath extension for saving", r"Received: filepath=(?P<file>\S{1,120}?)\.?(?: |$)"),
        Wording(
            "The filename must end in `.weights.h5`",
            r"must end in `(?P<wanted>\.weights\.h5)`\. Received: filepath=(?P<file>\S{1,120})",
        ),
        Wording(
            "`save_weights_only=True` in `ModelCheckpoint`, the filepath provided must end in",
            r"must end in `(?P<wanted>[\w.]{1,30})`.{0,60}?Received: filepath=(?P<file>\S{1,120})",
        ),
        Wording("The `save_format` argument is deprecated in Keras 3", r"`(?P<format>save_format)`"),
        Wording("Unknown `save_format`", r"`(?P<format>save_format)`"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=("https://github.com/keras-team/keras/blob/master/keras/src/saving/saving_api.py",),
)
