"""An operation got an empty list."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    attribute = read.get("attribute")
    if (
        attribute.startswith("output_")
        or attribute in ("Toutput_types",)
        or read.says("MapDataset", "FlatMap", "GeneratorDataset")
    ):
        return Cause(
            "The function given to map gives nothing back (no return, an empty list or dictionary), or the data set has elements without any part.",
            Certainty.LIKELY,
            (
                Step(
                    "Return at least one tensor.",
                    "def prepare(x, y):\n    ...\n    return x, y\ndata = data.map(prepare)",
                ),
                Step("See what the elements are.", "print(data.element_spec)"),
            ),
        )
    return Cause(
        f"An operation that joins or groups tensors got none{f' (its “{attribute}” is 0)' if attribute else ''}: a list that a loop was to fill is empty.",
        Certainty.LIKELY,
        (Step("Print the list before it is joined.", "print(len(tensors))"),),
    )


MESSAGE = Message(
    id="empty-list-attribute",
    title="An operation got an empty list",
    wordings=(
        Wording(
            "of 0 must be at least minimum 1",
            r"Length for attr '(?P<attribute>\w{1,40})' of 0 must be at least minimum 1.{0,80}?(?:node (?P<node>\w{1,60}))?",
        ),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://github.com/tensorflow/tensorflow/issues/47797", "https://github.com/helenqu/scone/issues/3"),
)
