"""The labels have another shape than the output (Keras 2 and before)."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import SHAPE, Cause, Certainty, Message, Read, Step, Wording, shown


def _explain(read: Read) -> Cause:
    wanted, found = read.shape("wanted"), read.shape("found")
    layer = read.layer("The output")
    if found is None:
        return Cause(
            "The labels have another shape than the last layer.",
            Certainty.CERTAIN,
            (Step("Look at both.", "print(model.output_shape, y.shape)"),),
        )
    if read.get("loss") == "categorical_crossentropy":
        return Cause(
            f"The labels are {shown(found)}, one number for each, and categorical_crossentropy wants them one-hot.",
            Certainty.CERTAIN,
            (
                Step("Take the sparse loss.", 'model.compile(optimizer, loss="sparse_categorical_crossentropy")'),
                Step("Or make them one-hot.", "y = keras.utils.to_categorical(y)"),
            ),
        )
    if wanted is not None and wanted and found and found[-1] == 1 and (wanted[-1] or 0) > 1:
        return Cause(
            f"{layer} has {wanted[-1]} units and each label is one number, {shown(found)}: class numbers where the loss wants them one-hot.",
            Certainty.LIKELY,
            (
                Step("Take the sparse loss.", 'model.compile(optimizer, loss="sparse_categorical_crossentropy")'),
                Step("Or make them one-hot.", "y = keras.utils.to_categorical(y)"),
            ),
        )
    if wanted and found and wanted[-1] == 1 and (found[-1] or 0) > 1:
        return Cause(
            f"{layer} and its loss take one number for each label, and the labels are {shown(found)}: one-hot labels beside a sparse loss, or one unit for {found[-1]} values.",
            Certainty.LIKELY,
            (
                Step("One-hot labels.", 'model.compile(optimizer, loss="categorical_crossentropy")'),
                Step("Or as many units as values.", f"keras.layers.Dense({found[-1]})"),
            ),
        )
    said = shown(wanted) if wanted is not None else f"{read.get('axes', 'other')} axes"
    return Cause(
        f"{layer} gives {said} and the labels are {shown(found)}: units and labels have to agree.",
        Certainty.LIKELY if "unsaid" in read else Certainty.CERTAIN,
        (
            Step(
                "Look at both, then change the units of the last layer or the labels.",
                "print(model.output_shape, y.shape, y[:3])",
            ),
        ),
    )


MESSAGE = Message(
    id="target-shape-checked",
    title="The labels have another shape than the output (Keras 2 and before)",
    wordings=(
        Wording(
            "was passed for an output of shape",
            rf"target array with shape (?P<found>{SHAPE}) was passed for an output of shape (?P<wanted>{SHAPE})",
        ),
        Wording(
            "Error when checking target",
            rf"checking (?:model )?target: expected (?P<layer>[\w/.-]{{1,80}}) to have (?:shape (?P<wanted>{SHAPE})|(?P<axes>\d{{1,2}}) dimensions,?) but got array with shape (?P<found>{SHAPE})",
        ),
        Wording(
            "You are passing a target array of shape",
            rf"target array of shape (?P<found>{SHAPE}) while using as loss `(?P<loss>\w{{1,60}})`",
        ),
        Wording(
            "but got array with shape",
            rf"(?P<unsaid>expected) (?P<layer>(?![\w/.-]{{0,80}}input)[\w/.-]{{1,80}}) to have shape ?(?P<wanted>{SHAPE}) but got array with shape (?P<found>{SHAPE})",
            unless="rror when checking",
        ),
    ),
    explain=_explain,
    ways=(ways.CHECK,),
    sources=("https://github.com/keras-team/keras/issues/11875", "https://github.com/zhixuhao/unet/issues/195"),
)
