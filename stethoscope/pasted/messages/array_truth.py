"""An array stands where yes or no is wanted."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "if, and, or, or not, or a comparison of lists met an array (or table) of several values, which is neither true nor false as a whole.",
        Certainty.POSSIBLE,
        (
            Step("Say what is meant.", "if x is not None and len(x): ...\nif (a == b).all(): ..."),
            Step("While an old Keras loads a model, it is h5py, which is too new for it.", "pip install 'h5py<3'"),
            Step("Element by element.", "mask = (x > 0) & (x < 1)   # not: x > 0 and x < 1"),
        ),
    )


MESSAGE = Message(
    id="array-truth",
    title="An array stands where yes or no is wanted",
    wordings=(
        Wording("The truth value of an array with more than one element is ambiguous"),
        Wording("The truth value of a DataFrame is ambiguous"),
        Wording("The truth value of a Series is ambiguous"),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=(
        "https://github.com/xinyu1905/ATCNN/issues/2",
        "https://github.com/jnzhng/keras-unet-vocal-separation/issues/6",
    ),
    rank=-1,
)
