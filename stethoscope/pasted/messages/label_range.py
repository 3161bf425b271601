"""A label is outside the classes that the output has."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    label, classes = read.number("label"), read.number("classes")
    look = Step("See which labels there are.", "import numpy as np\nprint(np.unique(y), model.output_shape)")
    if label is None or classes is None:
        return Cause(
            "A label is not one of the classes that the last layer has units for: labels count from 0 to one less than the units.",
            Certainty.CERTAIN,
            (look,),
        )
    told = f"A label is {label}, and the last layer has {classes} units, so labels go from 0 to {classes - 1}."
    if label < 0:
        return Cause(
            f"{told} A negative label stands for a value that is missing or was never filled in (-1 for “none”, or a number made of NaN).",
            Certainty.LIKELY,
            (
                look,
                Step(
                    "Leave these rows out, or let the loss do it.",
                    "keras.losses.SparseCategoricalCrossentropy(ignore_class=-1)",
                ),
            ),
        )
    if label == classes and classes > 1:
        return Cause(
            f"{told} Most often the labels count from 1, or the last layer is one unit short (with a background class there is one more).",
            Certainty.CERTAIN,
            (
                Step("Labels that count from 1: take 1 away.", "y = y - 1"),
                Step("Or one unit more.", f'keras.layers.Dense({classes + 1}, activation="softmax")'),
                look,
            ),
        )
    if classes == 1:
        return Cause(
            f"{told} One unit cannot tell classes apart with a sparse loss.",
            Certainty.CERTAIN,
            (
                Step(
                    "Two classes: the binary loss.",
                    'keras.layers.Dense(1, activation="sigmoid")\nmodel.compile(optimizer, loss="binary_crossentropy")',
                ),
                Step("More classes: a unit for each.", 'keras.layers.Dense(number_of_classes, activation="softmax")'),
                look,
            ),
        )
    return Cause(
        f"{told} Either the last layer has too few units, or the labels are something else than class numbers: ids, grey values (255), or texts that were numbered otherwise.",
        Certainty.CERTAIN,
        (
            look,
            Step(
                "Number the classes anew.",
                'classes, y = np.unique(y, return_inverse=True)\nkeras.layers.Dense(len(classes), activation="softmax")',
            ),
        ),
    )


MESSAGE = Message(
    id="label-range",
    title="A label is outside the classes that the output has",
    wordings=(
        Wording(
            "is outside the valid range of",
            r"label value of (?P<label>-?\d{1,20}) which is outside the valid range of \[0, ?(?P<classes>\d{1,12})\)(?:\. {1,2}Label values: (?P<labels>[\d\- ]{1,120}))?",
        ),
    ),
    explain=_explain,
    ways=(ways.CHECK, ways.DATA),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/5932",
        "https://github.com/zzh8829/yolov3-tf2/issues/386",
        "https://github.com/azraelkuan/FFTNet/issues/1",
    ),
)
