"""A Lambda layer was saved by another Python."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "A file of a model holds a Lambda layer as bytecode, which only the version of Python that wrote it reads; this one is another.",
        Certainty.LIKELY,
        (
            Step(
                "Take the Python of the time it was saved (3.6 and 3.7 for most old files), load it there, and save the weights.",
                "model.save_weights('model.weights.h5')",
            ),
            Step(
                "Here, build the model by its code and load them.",
                "model = build_model()\nmodel.load_weights('model.weights.h5')",
            ),
            Step("For the next file: a layer of one's own instead of a Lambda."),
        ),
    )


MESSAGE = Message(
    id="lambda-other-python",
    title="A Lambda layer was saved by another Python",
    wordings=(
        Wording("bad marshal data"),
        Wording("(closure) must be None or tuple"),
        Wording("XXX lineno:", r"XXX lineno: \d{1,6}, opcode"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=(
        "https://github.com/daniegr/EfficientPose/issues/39",
        "https://github.com/pierluigiferrari/ssd_keras/issues/111",
    ),
)
