"""A binary loss meets an output with another number of units."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import SHAPE, Cause, Certainty, Message, Read, Step, Wording, shown


def _explain(read: Read) -> Cause:
    labels, output = read.shape("labels"), read.shape("output")
    units = output[-1] if output else None
    told = (
        f"The output is {shown(output)}, the labels {shown(labels)}. "
        if output is not None and labels is not None
        else ""
    )
    one = Step("Two classes: one unit with a sigmoid.", 'keras.layers.Dense(1, activation="sigmoid")')
    many = Step(
        "Or keep the units, and take the loss for class numbers.",
        'keras.layers.Dense(2, activation="softmax")\nmodel.compile(optimizer, loss="sparse_categorical_crossentropy", metrics=["accuracy"])',
    )
    if (
        units
        and units > 1
        and labels
        and output
        and (len(labels) == len(output) - 1 or (len(labels) == len(output) and labels[-1] == 1))
    ):
        return Cause(
            f"{told}Binary cross-entropy compares place by place: it wants one unit for one label, and the last layer has {units}.",
            Certainty.LIKELY if "loose" in read or len(output) > 2 else Certainty.CERTAIN,
            (one, many),
        )
    if output is not None and labels is not None and len(output) > len(labels):
        return Cause(
            f"{told}Binary cross-entropy compares place by place, and the output has an axis more than the labels: it is not flattened or pooled before the last layer.",
            Certainty.LIKELY,
            (
                Step(
                    "Take the axis away before the last layer.",
                    "x = keras.layers.Flatten()(x)   # or GlobalAveragePooling",
                ),
                one,
            ),
        )
    return Cause(
        f"{told}Binary cross-entropy compares output and labels place by place, so they have to have the same shape.",
        Certainty.LIKELY,
        (one, many, Step("Look at both.", "print(model.output_shape, y.shape)")),
    )


MESSAGE = Message(
    id="binary-output-units",
    title="A binary loss meets an output with another number of units",
    wordings=(
        Wording(
            "must have the same shape",
            rf"`?logits`? and `?labels`? must have the same shape(?:, received)? \(\(?(?P<output>[\d?,None \-()\[\]]{{1,60}}?) vs (?P<labels>{SHAPE})",
        ),
        Wording(
            "Arguments `target` and `output` must have the same",
            rf"target\.shape=(?P<labels>{SHAPE}), output\.shape=(?P<output>{SHAPE})",
            beside="binary_crossentropy",
        ),
        Wording(
            "are incompatible",
            rf"(?P<loose>Shapes) (?P<labels>{SHAPE}) and (?P<output>{SHAPE}) are incompatible",
            beside="binary_crossentropy",
        ),
    ),
    explain=_explain,
    ways=(ways.CHECK,),
    sources=(
        "https://github.com/cqu-isse/CARLCS-CNN/issues/1",
        "https://github.com/fchollet/deep-learning-with-python-notebooks/issues/216",
    ),
    rank=1,
)
