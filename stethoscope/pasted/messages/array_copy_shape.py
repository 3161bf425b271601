"""An array does not go into the place it is copied to."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording, shown


def _explain(read: Read) -> Cause:
    found, wanted = read.shape("found"), read.shape("wanted")
    told = (
        f"An array of {shown(found)} is copied into a place of {shown(wanted)}."
        if found is not None and wanted is not None
        else "An array is copied into a place of another shape."
    )
    if found is not None and wanted is not None and found[: len(wanted)] == wanted:
        return Cause(
            f"{told} Rows of one list have different numbers of axes (colour and grey pictures, or pictures of different sizes), so NumPy cannot stack them.",
            Certainty.LIKELY,
            (
                Step("Bring all of them to one shape.", "image = image.convert('RGB').resize((256, 256))"),
                Step("See which shapes there are.", "print({np.shape(row) for row in rows})"),
            ),
        )
    return Cause(
        f"{told} A picture or row has another size than the batch was made for: it was not resized, width and height are swapped (OpenCV and PIL count width first), or channels are missing.",
        Certainty.LIKELY,
        (
            Step("Resize before it is put in.", "batch[i] = cv2.resize(image, (width, height))"),
            Step("See which shapes there are.", "print({np.shape(row) for row in rows})"),
        ),
    )


MESSAGE = Message(
    id="array-copy-shape",
    title="An array does not go into the place it is copied to",
    wordings=(
        Wording(
            "could not broadcast input array from shape",
            r"from shape (?P<found>\([\d, ]{1,40}\)) into shape (?P<wanted>\([\d, ]{1,40}\))",
        ),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=(
        "https://github.com/xiaomaxiao/keras_ocr/issues/32",
        "https://github.com/titu1994/Image-Super-Resolution/issues/28",
        "https://github.com/keras-team/keras/issues/14144",
    ),
)
