"""Weights of another shape."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import SHAPE, Cause, Certainty, Message, Read, Step, Wording, shown


def _explain(read: Read) -> Cause:
    model, file = read.shape("model"), read.shape("file")
    given = (
        "in the file"
        if read.says("load", "checkpoint", "saved weight", "restore", "hdf5", "Assign requires")
        else "in what it is given"
    )
    variable = f"“{read.get('variable')}”" if "variable" in read else "A weight"
    if model is None or file is None:
        return Cause(
            f"{variable} has another shape {given} than in the model.",
            Certainty.LIKELY if "axes don't match array" in read.text else Certainty.CERTAIN,
            (Step("Compare both layer by layer.", "model.summary()"),),
        )
    told = f"{variable} is {shown(model)} in the model and {shown(file)} {given}."
    if model and len(model) == len(file) and model[:-1] == file[:-1]:
        return Cause(
            f"{told} The last axis has {model[-1]} here and {file[-1]} there: another number of classes, units or filters.",
            Certainty.CERTAIN,
            (
                Step(
                    "The same number of units, or leave this layer out.",
                    f"keras.layers.Dense({file[-1]})\nmodel.load_weights('weights.h5', skip_mismatch=True)",
                ),
                Step(
                    "Another number of classes: load the backbone only, then a new top.",
                    "keras.applications.ResNet50(include_top=False)",
                ),
            ),
        )
    if model and len(model) == len(file) and model[1:] == file[1:]:
        return Cause(
            f"{told} The first axis has {model[0]} here and {file[0]} there: another size of the input, another layer before it, or (an embedding) another vocabulary.",
            Certainty.CERTAIN,
            (
                Step("Build it with the input shape of the training.", "keras.Input((224, 224, 3))"),
                Step("A vocabulary that grew: an embedding has a row for each token."),
            ),
        )
    return Cause(
        f"{told} It is another architecture, or the layers are in another order.",
        Certainty.CERTAIN,
        (
            Step("Build the model as it was when the weights were saved."),
            Step("Or take what goes by name and shape.", "model.load_weights('weights.h5', skip_mismatch=True)"),
        ),
    )


MESSAGE = Message(
    id="weights-shape",
    title="Weights of another shape",
    wordings=(
        Wording(
            "The shape of the target variable and the shape of the target value",
            rf"variable\.shape=(?P<model>{SHAPE}),? Received: value\.shape=(?P<file>{SHAPE}). Target variable: <\w{{0,20}}[Vv]ariable (?:path=|shape=.{{0,60}}path=)(?P<variable>[\w/.-]{{1,120}})",
        ),
        Wording(
            "The shape of the target variable and the shape of the target value",
            rf"variable\.shape=(?P<model>{SHAPE}),? Received: value\.shape=(?P<file>{SHAPE})",
        ),
        Wording(
            "Shape mismatch in layer",
            rf"Shape mismatch in layer #(?P<number>\d{{1,5}}) ?\(named (?P<layer>[\w.-]{{1,80}})\) ?for weight (?P<variable>[\w/.:-]{{1,120}})\. Weight expects shape (?P<model>{SHAPE})\. Received saved weight with shape (?P<file>{SHAPE})",
        ),
        Wording(
            "Cannot assign",
            rf"Cannot assign value to variable '? ?(?P<variable>[\w/.:-]{{1,120}}?)'?: Shape mismatch\.? ?The variable shape (?P<model>{SHAPE}),? and the assigned value shape (?P<file>{SHAPE})",
        ),
        Wording(
            "but the saved weight has shape",
            rf"has shape (?P<model>{SHAPE}), but the saved weight has shape (?P<file>{SHAPE})",
        ),
        Wording("when attempting to restore variable", rf"tensor with shape (?P<file>{SHAPE}) when attempting"),
        Wording("which has shape", rf"has shape (?P<model>{SHAPE}), but the saved weight has shape (?P<file>{SHAPE})"),
        Wording(
            "Layer weight shape",
            rf"Layer weight shape (?P<model>{SHAPE}) not compatible with provided weight shape (?P<file>{SHAPE})",
        ),
        Wording(
            "Assign requires shapes of both tensors to match",
            rf"lhs shape= ?(?P<model>{SHAPE}) rhs shape= ?(?P<file>{SHAPE})",
        ),
        Wording(
            "is incompatible with the checkpointed shape",
            rf"(?:shape|Shape) (?P<model>{SHAPE}).{{0,200}}?checkpointed shape (?P<file>{SHAPE})",
        ),
        Wording("Shapes must be equal rank, but are", r"but are (?P<one>\d{1,2}) and (?P<other>\d{1,2}) for 'Assign"),
        Wording(
            "due to variable shape",
            rf"Cannot assign to variable (?P<variable>[\w/.:-]{{1,120}}?)(?: due to|:).{{0,40}}variable shape (?P<model>{SHAPE}) and value shape (?P<file>{SHAPE})",
        ),
        Wording("axes don't match array", beside="load_weights"),
        Wording("axes don't match array", beside="load_model"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE, ways.LAYERS),
    sources=(
        "https://github.com/matterport/Mask_RCNN/issues/2985",
        "https://github.com/ybkscht/EfficientPose/issues/32",
    ),
)
