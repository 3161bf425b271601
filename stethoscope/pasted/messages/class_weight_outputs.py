"""class_weight with several outputs."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "class_weight says what a class counts for, and takes one output: the model (or the structure of its targets: a list or a dict) has several. A dict around the targets of a single output is enough to raise it.",
        Certainty.CERTAIN,
        (
            Step(
                "One weight for each row and output instead.",
                "weights = {'kind': np.vectorize(class_weight.get)(y_kind), 'size': np.ones(len(y_size))}\nmodel.fit(x, {'kind': y_kind, 'size': y_size}, sample_weight=weights)",
            ),
            Step("A single output: give its targets as an array.", "model.fit(x, y, class_weight={0: 1.0, 1: 5.0})"),
        ),
    )


MESSAGE = Message(
    id="class-weight-outputs",
    title="class_weight with several outputs",
    wordings=(
        Wording("`class_weight` is only supported for Models with a single output"),
        Wording("class_weight is only supported for Models with a single output"),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://github.com/keras-team/keras/issues/11735", "https://github.com/keras-team/keras/issues/20701"),
)
