"""A picture was not read, and None goes on in its place."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    sure = read.says("cv2", "imread", "-215", "OpenCV")
    return Cause(
        "OpenCV's imread returned None, as it does for a path that is wrong or a file that is no picture (a hidden file, a name with other than plain letters on Windows), and the next line took it for an array."
        if sure
        else "None stands where an array is wanted. Most often a picture was not read: OpenCV's imread returns None for a wrong path or a file that is no picture; otherwise a function has no return.",
        Certainty.LIKELY if sure else Certainty.POSSIBLE,
        (
            Step("Stop at the file.", "image = cv2.imread(path)\nif image is None:\n    raise ValueError(path)"),
            Step("Find all of them beforehand.", "bad = [p for p in paths if cv2.imread(p) is None]"),
        ),
    )


MESSAGE = Message(
    id="picture-not-read",
    title="A picture was not read, and None goes on in its place",
    wordings=(
        Wording(
            "'NoneType' object has no attribute 'shape'", r"'NoneType' object has no attribute '(?P<attribute>shape)'"
        ),
        Wording(
            "'NoneType' object has no attribute 'astype'", r"'NoneType' object has no attribute '(?P<attribute>astype)'"
        ),
        Wording(
            "'NoneType' object has no attribute 'copy'",
            r"'NoneType' object has no attribute '(?P<attribute>copy)'",
            beside="cv2",
        ),
        Wording("!_src.empty() in function"),
        Wording("!ssize.empty() in function"),
        Wording("error: (-215", r"\(-215[^)]{0,30}\) ?!?\w{0,10}\.empty\(\)"),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=(
        "https://github.com/kbardool/Keras-frcnn/issues/109",
        "https://github.com/csvance/keras-mobile-detectnet/issues/4",
        "https://github.com/experiencor/keras-yolo2/issues/257",
    ),
    rank=-1,
)
