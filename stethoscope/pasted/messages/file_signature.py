"""The file is no HDF5 file."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "The file does not begin as HDF5 does: a web page or an error message was saved in its place, a pointer of Git LFS was cloned instead of the file, or it is another format (.keras is a zip) under the name .h5.",
        Certainty.LIKELY,
        (
            Step(
                "See how it begins.",
                "print(open('model.h5', 'rb').read(60))   # b'\\x89HDF' is HDF5, b'PK' is .keras, b'version https://git-lfs' a pointer, b'<!DOCTYPE' a page",
            ),
            Step("Fetch it again.", "git lfs pull\ngdown --id …   # Google Drive gives a page for large files"),
            Step("A zip: call it .keras.", "mv model.h5 model.keras"),
        ),
    )


MESSAGE = Message(
    id="file-signature",
    title="The file is no HDF5 file",
    wordings=(
        Wording("file signature not found"),
        Wording("File signature not found"),
        Wording("Unable to find a valid file signature"),
        Wording("not an sstable (bad magic number)"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=(
        "https://github.com/keras-team/keras/issues/19164",
        "https://github.com/MLH-Fellowship/Social-BERTerfly/issues/25",
        "https://github.com/fchollet/deep-learning-models/issues/64",
    ),
)
