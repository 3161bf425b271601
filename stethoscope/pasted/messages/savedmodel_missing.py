"""There is no SavedModel in the folder."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if "tags" in read:
        return Cause(
            f"The SavedModel holds no graph with the tags {read.get('tags')}.",
            Certainty.CERTAIN,
            (
                Step("See which there are.", "saved_model_cli show --dir folder"),
                Step("Old hub modules have none, or 'serve'.", "tf.saved_model.load(folder, tags=['serve'])"),
            ),
        )
    folder = f"“{read.get('folder').rstrip('/')}”" if "folder" in read else "The folder"
    return Cause(
        f"{folder} holds no saved_model.pb: the path is wrong, it is the folder above (a numbered version inside?), a file of another format was given, or an upload is not complete.",
        Certainty.LIKELY,
        (
            Step("See what is there.", "find folder -maxdepth 3 -name 'saved_model.pb*'"),
            Step("A .keras or .h5 file is loaded by Keras.", "keras.models.load_model('model.keras')"),
        ),
    )


MESSAGE = Message(
    id="savedmodel-missing",
    title="There is no SavedModel in the folder",
    wordings=(
        Wording("SavedModel file does not exist at", r"does not exist at: (?P<folder>\S{1,200}?)(?:/?\{|\s|$)"),
        Wording("MetaGraphDef associated with tags", r"with tags \{?(?P<tags>[^}]{1,60})\}? could not be found"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/38809",
        "https://github.com/tensorflow/tensorflow/issues/50535",
        "https://github.com/amir-abdi/keras_to_tensorflow/issues/105",
    ),
)
