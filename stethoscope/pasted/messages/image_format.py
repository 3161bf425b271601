"""A file is no picture that TensorFlow reads."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording

_FIND = Step(
    "Find it: the decoder names no file, so look at each.",
    "import pathlib\nfrom PIL import Image\nfor path in pathlib.Path(folder).rglob('*.*'):\n    try:\n        Image.open(path).load()\n    except Exception as error:\n        print(path, error)",
)


def _explain(read: Read) -> Cause:
    if read.says(
        "truncated", "Truncated", "broken data", "Premature end", "Corrupt JPEG", "Invalid JPEG", "Invalid PNG"
    ):
        missing = f" ({read.get('missing')} bytes were left over)" if "missing" in read else ""
        return Cause(
            f"A picture is damaged{missing}: its copy or its download was cut off.",
            Certainty.LIKELY,
            (_FIND, Step("Get it again, or leave it out.")),
        )
    return Cause(
        "A file among the pictures is something else: damaged or empty, a web page that was saved as .jpg, a format that is not read (WebP in older versions, HEIC, TIFF), or a hidden file such as .DS_Store.",
        Certainty.LIKELY,
        (_FIND, Step("Convert it or leave it out.")),
    )


MESSAGE = Message(
    id="image-format",
    title="A file is no picture that TensorFlow reads",
    wordings=(
        Wording("Unknown image file format", r"One of (?P<formats>[A-Z, a-zL]{1,60}) required"),
        Wording("Unable to decode bytes as JPEG, PNG, GIF, or BMP"),
        Wording(
            "image file is truncated", r"image file is truncated(?: \((?P<missing>\d{1,12}) bytes not processed\))?"
        ),
        Wording("broken data stream when reading image file"),
        Wording("Premature end of JPEG"),
        Wording("Input is empty", beside="ecode"),
        Wording("Expected image (JPEG, PNG, or GIF)"),
        Wording("Corrupt JPEG data"),
        Wording("Invalid JPEG data or crop window"),
        Wording("Invalid PNG data"),
        Wording("Truncated File Read"),
        Wording("cannot identify image file", r"cannot identify image file (?P<file>[^\n]{1,120}?)(?: |$)"),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/core/kernels/image/decode_image_op.cc",),
)
