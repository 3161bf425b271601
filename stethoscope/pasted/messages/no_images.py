"""A folder in which no pictures were found."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    folder = read.get("folder", "The folder")
    return Cause(
        f"{folder} holds no pictures where they are looked for: each class is a folder of its own inside it, and the path counts from where the program was started.",
        Certainty.LIKELY,
        (
            Step(
                "See what is there.",
                "import pathlib\nprint(pathlib.Path(folder).resolve(), list(pathlib.Path(folder).iterdir())[:5])",
            ),
            Step(
                "Pictures without folders of classes.", "keras.utils.image_dataset_from_directory(folder, labels=None)"
            ),
        ),
    )


MESSAGE = Message(
    id="no-images",
    title="A folder in which no pictures were found",
    wordings=(
        Wording(
            "No images found in directory", r"No images found in directory (?P<folder>[^\n]{1,160}?)\. Allowed formats"
        ),
        Wording("Found 0 images belonging to", r"Found 0 images belonging to (?P<classes>\d{1,6}) classes"),
        Wording("integer division or modulo by zero", beside="flow_from_directory"),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://github.com/keras-team/keras/blob/master/keras/src/utils/image_dataset_utils.py",),
)
