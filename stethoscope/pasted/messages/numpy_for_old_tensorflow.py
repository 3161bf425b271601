"""A TensorFlow of before meets a newer NumPy."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if "attribute" in read:
        return Cause(
            f"np.{read.get('attribute')} was taken out of NumPy (1.24), and what runs here still uses it: a line of your own, TensorFlow before 2.11 or so, or a library on top of it.",
            Certainty.CERTAIN,
            (Step("A newer library, or an older NumPy.", "pip install -U tensorflow\npip install 'numpy<1.24'"),),
        )
    tensor = read.get("tensor", "a tensor of a recurrent layer")
    return Cause(
        f"{tensor} comes from inside of a layer of Keras (recurrent layers do this), not from your own code: TensorFlow up to 2.4 does not work with NumPy 1.20 and later.",
        Certainty.LIKELY,
        (
            Step(
                "A newer TensorFlow, or the NumPy of its time.", "pip install -U tensorflow\npip install 'numpy<1.20'"
            ),
            Step("If the line it points to calls NumPy in your code: tf instead of np."),
        ),
    )


MESSAGE = Message(
    id="numpy-for-old-tensorflow",
    title="A TensorFlow of before meets a newer NumPy",
    wordings=(
        Wording(
            "Cannot convert a symbolic Tensor",
            r"Cannot convert a symbolic (?:tf\.)?Tensor \((?P<tensor>[\w/.-]{1,120}strided_slice(?:_\d{1,4})?:0)\) to a numpy array",
        ),
        Wording(
            "module 'numpy' has no attribute",
            r"module 'numpy' has no attribute '(?P<attribute>object|bool|int|float|typeDict|complex|str)'",
        ),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=(
        "https://github.com/DataCanvasIO/HyperTS/issues/37",
        "https://github.com/ameraner/dsen2-cr/issues/7",
        "https://github.com/likesum/prdepth/issues/3",
    ),
    rank=1,
)
