"""A folder for logs or models is a file, or its name is not taken."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        f"{read.get('folder', 'The folder')} cannot be used as a folder: a file of that name stands there, a part of the path is missing or may not be written, or on Windows the path has slashes of both kinds, a colon or is too long.",
        Certainty.LIKELY,
        (
            Step(
                "See what it is; make the folder, and write the path by pathlib.",
                "from pathlib import Path\nlogs = Path('logs') / 'first'\nlogs.mkdir(parents=True, exist_ok=True)\nkeras.callbacks.TensorBoard(str(logs))",
            ),
        ),
    )


MESSAGE = Message(
    id="log-folder-is-file",
    title="A folder for logs or models is a file, or its name is not taken",
    wordings=(
        Wording("is not a directory", r"(?P<folder>[^\s:;]{1,160}) is not a directory"),
        Wording("Failed to create a directory", r"Failed to create a directory: (?P<folder>[^\s;]{1,160})"),
        Wording("Failed to create a NewWriteableFile", r"NewWriteableFile: (?P<folder>[^\s;]{1,160})"),
        Wording("Not a directory", r"Not a directory(?:: ?'(?P<folder>[^\s']{1,160}))?"),
    ),
    explain=_explain,
    ways=(ways.CURVES,),
    sources=("https://www.tensorflow.org/api_docs/python/tf/errors/FailedPreconditionError",),
)
