"""set_weights got another number of arrays than the layer has."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    given, wanted = read.get("given", "some"), read.get("wanted", "others")
    bias = (
        " One array is missing: a kernel and a bias are two."
        if (read.number("given") or 0) + 1 == (read.number("wanted") or -1)
        else ""
    )
    return Cause(
        f"{read.layer('The layer')} has {wanted} arrays of weights and got {given}.{bias}",
        Certainty.CERTAIN,
        (
            Step("See what it has.", "print([weight.shape for weight in layer.get_weights()])"),
            Step("From another layer of the same kind.", "layer.set_weights(other.get_weights())"),
            Step("0 expected: the layer is not built yet.", "layer.build(input_shape)"),
        ),
    )


MESSAGE = Message(
    id="set-weights-length",
    title="set_weights got another number of arrays than the layer has",
    wordings=(
        Wording(
            "with a weight list of length",
            r"on layer [\"']?(?P<layer>[\w.-]{1,80})[\"']? with a (?: ?)weight list of length (?P<given>\d{1,6}), but the layer was expecting (?P<wanted>\d{1,6}) weights",
        ),
    ),
    explain=_explain,
    ways=(ways.LAYERS,),
    sources=("https://github.com/keras-team/keras/blob/master/keras/src/layers/layer.py",),
)
