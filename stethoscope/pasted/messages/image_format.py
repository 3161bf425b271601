"""A file is no picture that TensorFlow reads."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "A file among the pictures is something else: damaged or empty, a web page that was saved as .jpg, a format that is not read (WebP in older versions, HEIC, TIFF), or a hidden file such as .DS_Store.",
        Certainty.LIKELY,
        (
            Step(
                "Find it: the decoder names no file, so look at each.",
                "import pathlib\nfrom PIL import Image\nfor path in pathlib.Path(folder).rglob('*.*'):\n    try:\n        Image.open(path).verify()\n    except Exception as error:\n        print(path, error)",
            ),
            Step("Convert it or leave it out."),
        ),
    )


MESSAGE = Message(
    id="image-format",
    title="A file is no picture that TensorFlow reads",
    wordings=(
        Wording("Unknown image file format", r"One of (?P<formats>[A-Z, a-zL]{1,60}) required"),
        Wording("Unable to decode bytes as JPEG, PNG, GIF, or BMP"),
        Wording("cannot identify image file", r"cannot identify image file (?P<file>[^\n]{1,120}?)(?: |$)"),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/core/kernels/image/decode_image_op.cc",),
)
