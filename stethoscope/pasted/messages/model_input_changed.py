"""The model is called on another shape than it was built for."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Role, Step, Wording


def _explain(read: Read) -> Cause:
    told = f": built for {read.get('wanted')}, called on {read.get('found')}" if "found" in read else ""
    return Cause(
        f"The shape that comes differs from that of the Input{told}. It goes on where the layers allow it, and mostly means an axis too few or too many.",
        Certainty.LIKELY,
        (Step("Look at both.", "print(x.shape, model.input_shape)"),),
    )


MESSAGE = Message(
    id="model-input-changed",
    title="The model is called on another shape than it was built for",
    wordings=(
        Wording(
            "Model was constructed with shape",
            r"constructed with shape (?P<wanted>\([\w, ]{1,60}\)) for input.{0,400}?incompatible shape (?P<found>\([\w, ]{1,60}\))",
        ),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://github.com/ur-whitelab/maxent/issues/27",),
    role=Role.WARNING,
)
