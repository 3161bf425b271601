"""Two shapes have to agree in one axis."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    told = (
        f"{read.get('first')} and {read.get('second')}"
        if "first" in read
        else f"{read.get('one', 'one')} and {read.get('other', 'another')}"
    )
    node = f" at “{read.get('node')}”" if "node" in read else ""
    if "Assign" in read.get("node"):
        return Cause(
            f"A weight of the model and the one in the file have other shapes: {told}. The file is of a model with other classes, sizes or layers, or is no file of weights for it.",
            Certainty.LIKELY,
            (
                Step(
                    "Take the weights of this model, or leave out the layers that differ.",
                    "model.load_weights('weights.h5', by_name=True, skip_mismatch=True)",
                ),
            ),
        )
    return Cause(
        f"Two tensors meet{node} whose shapes have to agree in axis {read.get('axis', 'one')}: {told}. What is joined, stacked or added comes from places that were built with different sizes.",
        Certainty.LIKELY,
        (Step("Follow both back to where that length is set.", "model.summary()"),),
    )


MESSAGE = Message(
    id="shapes-must-agree",
    title="Two shapes have to agree in one axis",
    wordings=(
        Wording(
            "in both shapes must be equal",
            r"Dimension (?P<axis>\d{1,2}) in both shapes must be equal, but are (?P<one>\d{1,12}) and (?P<other>\d{1,12})(?:\. Shapes are (?P<first>\[[\d,?]{0,60}\]) and (?P<second>\[[\d,?]{0,60}\]))?(?:.{0,40}?for '?(?:\{\{node )?(?P<node>[\w/]{1,80}))?",
        ),
    ),
    explain=_explain,
    ways=(ways.LAYERS,),
    sources=("https://github.com/experiencor/keras-yolo3/issues/170",),
    rank=-1,
)
