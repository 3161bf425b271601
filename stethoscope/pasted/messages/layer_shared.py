"""A layer was used in several places."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if "only" in read:
        return Cause(
            f"Call number {read.get('number')} of a layer was asked for, counted from 0, and it was called {read.get('only')} times.",
            Certainty.CERTAIN,
            (Step("The first call is 0.", "layer.get_output_at(0)"),),
        )
    if "sequential" in read:
        return Cause(
            f"{read.layer('A layer')} is used in another model already, and a Sequential model of this Keras takes layers that nothing else uses.",
            Certainty.CERTAIN,
            (Step("Make it anew, or use a functional model.", "model = keras.Model(base.input, head(base.output))"),),
        )
    return Cause(
        f"{read.layer('A layer')} was called more than once (a base network inside of a larger one is called anew, on its own input and on that of the larger), so it has several inputs and outputs, and which is meant was not said.",
        Certainty.CERTAIN,
        (
            Step("Name the call: 0 is the first.", "layer.get_output_at(0)   # Keras 2"),
            Step(
                "For pictures of attention: one flat model instead of a model in a model.",
                "base = keras.applications.VGG16(include_top=False)\nmodel = keras.Model(base.input, head(base.output))",
            ),
        ),
    )


MESSAGE = Message(
    id="layer-shared",
    title="A layer was used in several places",
    wordings=(
        Wording(
            "has multiple inbound nodes, hence the notion of",
            r"Layer (?P<layer>[\w./-]{1,80}) has multiple inbound nodes, hence the notion of \"(?P<what>[\w ]{1,40})\"",
        ),
        Wording(
            "A layer added to a Sequential model must not already be connected somewhere else",
            r"(?P<sequential>Sequential).{0,200}?received layer (?P<layer>[\w./-]{1,80})",
        ),
        Wording(
            "Asked to get output at node",
            r"Asked to get output at node (?P<number>\d{1,3}), but the (?:layer|operation) has only (?P<only>\d{1,3})",
        ),
        Wording("The layer has multiple inbound nodes"),
    ),
    explain=_explain,
    ways=(ways.LAYERS,),
    sources=(
        "https://github.com/raghakot/keras-vis/issues/37",
        "https://github.com/jacobgil/keras-grad-cam/issues/21",
        "https://github.com/jacobgil/keras-grad-cam/issues/8",
    ),
)
