"""How many batches make an epoch was not said."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if read.says("data tensors as"):
        return Cause(
            "x or y is a tensor of the graph, not an array, and has no number of rows that fit could count.",
            Certainty.CERTAIN,
            (
                Step("Give arrays.", "model.fit(np.asarray(x), np.asarray(y), batch_size=32)"),
                Step("Or say how many batches to take.", "model.fit(x, y, steps_per_epoch=100)"),
            ),
        )
    argument = read.get("argument", "steps_per_epoch")
    return Cause(
        f"A generator or a repeated data set has no end that Keras can see, so “{argument}” has to say how many batches to take.",
        Certainty.CERTAIN,
        (
            Step(
                "Rows by the size of a batch, rounded up.",
                f"model.fit(train, {argument if argument != 'steps' else 'steps_per_epoch'}=-(-rows // 32))",
            ),
            Step(
                "Or do not repeat: a data set that ends needs no such number.",
                "dataset = dataset.batch(32)   # without .repeat()",
            ),
        ),
    )


MESSAGE = Message(
    id="steps-not-given",
    title="How many batches make an epoch was not said",
    wordings=(
        Wording(
            "you must specify a value for `validation_steps`", r"specify a value for `(?P<argument>validation_steps)`"
        ),
        Wording(
            "When passing an infinitely repeating dataset, you must specify the",
            r"specify the `(?P<argument>\w{1,30})`",
        ),
        Wording(
            "`steps_per_epoch=None` is only valid for a generator based on", r"`(?P<argument>steps_per_epoch)=None`"
        ),
        Wording(
            "`validation_steps=None` is only valid for a generator based on", r"`(?P<argument>validation_steps)=None`"
        ),
        Wording("`steps=None` is only valid for a generator based on", r"`(?P<argument>steps)=None`"),
        Wording("you should specify the `steps_per_epoch` argument", r"specify the `(?P<argument>steps_per_epoch)`"),
        Wording("you should specify the `steps` argument", r"specify the `(?P<argument>steps)`"),
        Wording("please specify a value for `steps_per_epoch`", r"`(?P<argument>steps_per_epoch)`"),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://github.com/rizkiarm/LipNet/issues/61", "https://github.com/tensorflow/tensorflow/issues/33939"),
)
