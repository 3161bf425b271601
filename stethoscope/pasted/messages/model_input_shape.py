"""The data has another shape than the model's input."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import SHAPE, Cause, Certainty, Message, Read, Step, Wording, shown


def _explain(read: Read) -> Cause:
    if "tensor" in read:
        return Cause(
            f"The placeholder “{read.get('tensor')}” takes {read.get('wanted')} and was fed {read.get('found')}.",
            Certainty.CERTAIN,
            (Step("Look at both.", "print(placeholder.shape, x.shape)"),),
        )
    wanted, found = read.shape("wanted"), read.shape("found")
    look = Step("Look at both.", "print(x.shape, model.input_shape)")
    if wanted is None or found is None:
        return Cause(
            "The model's input was declared with one shape, and an array with another shape came.",
            Certainty.CERTAIN,
            (look,),
        )
    told = f"The model takes {shown(wanted)} and got {shown(found)}."
    if len(found) == len(wanted) - 1:
        return Cause(
            f"{told} An axis is missing: of channels at the end, or of rows at the front for a single sample.",
            Certainty.LIKELY,
            (
                Step("Grey pictures, single values: an axis at the end.", "x = x[..., None]"),
                Step("A single sample: an axis at the front.", "x = x[None]"),
                look,
            ),
        )
    if len(found) == len(wanted) + 1:
        return Cause(
            f"{told} An axis is too many: batched twice, or an axis of length one.",
            Certainty.LIKELY,
            (Step("Take it away.", "x = x.squeeze(axis=0)"), look),
        )
    where = [
        number
        for number, (one, other) in enumerate(zip(wanted, found, strict=False))
        if one is not None and other is not None and one != other
    ]
    if len(wanted) == len(found) == 4 and sorted(str(size) for size in wanted[1:]) == sorted(
        str(size) for size in found[1:]
    ):
        return Cause(
            f"{told} These are the same lengths in another order: channels first against channels last.",
            Certainty.LIKELY,
            (
                Step(
                    "Move the axis.", "x = x.transpose(0, 2, 3, 1)   # channels to the end; (0, 3, 1, 2) to the front"
                ),
                look,
            ),
        )
    places = " and ".join(str(number) for number in where)
    return Cause(
        f"{told}" + (f" They differ in axis {places}." if where else ""),
        Certainty.CERTAIN,
        (
            Step(
                "Bring the data to the size of the training (pictures: resize; texts: pad to the same length).",
                "x = tf.image.resize(x, model.input_shape[1:3])\nx = keras.utils.pad_sequences(x, maxlen=model.input_shape[1])",
            ),
            look,
        ),
    )


MESSAGE = Message(
    id="model-input-shape",
    title="The data has another shape than the model's input",
    wordings=(
        Wording(
            "incompatible with the layer: expected shape=",
            rf"expected shape=(?P<wanted>{SHAPE}), found shape=(?P<found>{SHAPE})",
        ),
        Wording(
            "but got array with shape",
            rf"Error when checking (?:model )?input: expected (?P<layer>[\w/.-]{{1,80}}) to have shape (?P<wanted>{SHAPE}) but got array with shape (?P<found>{SHAPE})",
        ),
        Wording(
            "was constructed with shape",
            rf"constructed with shape (?P<wanted>{SHAPE}) for input .{{1,200}}?incompatible shape (?P<found>{SHAPE})",
        ),
        Wording(
            "Cannot feed value of shape",
            rf"Cannot feed value of shape (?P<found>{SHAPE}) for Tensor u?'?(?P<tensor>[^', ]{{1,80}})'?, which has shape '?(?P<wanted>{SHAPE})",
        ),
        Wording(
            "is incompatible with layer",
            rf"is incompatible with layer (?P<layer>[\w.-]{{1,80}}): expected shape=(?P<wanted>{SHAPE}), found shape=(?P<found>{SHAPE})",
        ),
        Wording(
            "but input has incompatible shape",
            rf"Expected shape (?P<wanted>{SHAPE}), but input has incompatible shape (?P<found>{SHAPE})",
        ),
    ),
    explain=_explain,
    ways=(ways.DATA, ways.DESCRIBE),
    sources=(
        "https://github.com/keras-team/keras/blob/master/keras/src/layers/input_spec.py",
        "https://github.com/keras-team/keras/issues/14308",
    ),
)
