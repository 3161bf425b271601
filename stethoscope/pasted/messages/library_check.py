"""A check of Keras or TensorFlow that no kind of its own knows: told by where it is raised and what it tests.

Its texts stand in no file: they are those of `raised/sites.txt`, which is asked where nothing else is known.
"""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step

SURE_LENGTH = 60
"""Characters of fixed words from which on the place is hardly another one."""


def _explain(read: Read) -> Cause:
    raises = read.get("raised_by", "Keras or TensorFlow")
    condition, said = read.get("condition"), read.get("_said")
    public = not any(part in raises for part in (".src.", ".python.", ".onnx_opset", "_legacy"))
    parts = raises.split(".")
    last = next((at for at, part in enumerate(parts) if part[:1].isupper()), len(parts) - 1)
    thing = ".".join(parts[: last + 1])
    told = f"{raises} refuses what it was given" + (f", where this holds: {condition}" if condition else "")
    return Cause(
        f"{told}." + (f" It says why: “{said}”" if said else " The message says why."),
        Certainty.LIKELY if read.get("_sure") else Certainty.POSSIBLE,
        (
            Step(
                "Look at the argument that the message names, at your own line.",
                f"help({thing})" if public and "raised_by" in read else "",
            ),
        ),
    )


MESSAGE = Message(
    id="library-check",
    title="A check inside of the library",
    wordings=(),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=("https://github.com/keras-team/keras", "https://github.com/tensorflow/tensorflow"),
    rank=-3,
)
