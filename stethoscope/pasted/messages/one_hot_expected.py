"""Labels and output do not have the same shape."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import SHAPE, Cause, Certainty, Message, Read, Step, Wording, shown


def _explain(read: Read) -> Cause:
    labels, output = read.shape("labels"), read.shape("output")
    look = Step("Look at both shapes before fit.", "print(model.output_shape, y.shape, y[:3])")
    sparse = Step(
        "Labels that are class numbers go with the sparse loss.",
        'model.compile(optimizer, loss="sparse_categorical_crossentropy", metrics=["accuracy"])',
    )
    hot = Step("Or make them one-hot.", "y = keras.utils.to_categorical(y, num_classes=model.output_shape[-1])")
    if "first" in read:
        return Cause(
            f"The labels and the output differ along one axis: {read.get('first')} against {read.get('second')}. A network without padding answers with a smaller picture; else the number of classes is another.",
            Certainty.LIKELY,
            (
                look,
                Step("Keep the size, or cut the labels to the output.", "keras.layers.Conv2D(64, 3, padding='same')"),
            ),
        )
    if labels is None or output is None:
        return Cause(
            "A loss compared a target and an output of different shapes. Most often the labels are class numbers and the loss wants them one-hot.",
            Certainty.POSSIBLE,
            (sparse, hot, look),
        )
    told = f"The target is {shown(labels)}, the output {shown(output)}."
    last, units = labels[-1] if labels else None, output[-1] if output else None
    if units and units > 1 and (len(labels) == len(output) - 1 or last == 1):
        return Cause(
            f"{told} The last layer has {units} units and each label is one number: the labels are class numbers, while this loss wants them one-hot.",
            Certainty.LIKELY,
            (sparse, hot, look),
        )
    if len(labels) == len(output) and last and units and last != units:
        return Cause(
            f"{told} The labels have {last} columns and the last layer {units} units: they have to be as many.",
            Certainty.LIKELY,
            (
                Step("Give the last layer a unit for each class.", f'keras.layers.Dense({last}, activation="softmax")'),
                look,
            ),
        )
    if len(labels) != len(output):
        return Cause(
            f"{told} One of them has an axis more: an axis of places or of time is still there before the last layer, or the labels have an axis of length one too many.",
            Certainty.LIKELY,
            (
                Step(
                    "Flatten or pool before the last layer, or squeeze the labels.",
                    "x = keras.layers.Flatten()(x)\ny = y.squeeze()",
                ),
                look,
            ),
        )
    return Cause(
        f"{told} The loss compares them place by place, so they have to be equal.", Certainty.POSSIBLE, (look,)
    )


MESSAGE = Message(
    id="one-hot-expected",
    title="Labels and output do not have the same shape",
    wordings=(
        Wording(
            "are not compatible",
            r"Dimensions (?P<first>\d{1,9}) and (?P<second>\d{1,9}) are not compatible",
            beside="cross_entropy",
        ),
        Wording(
            "are incompatible",
            rf"Shapes (?P<labels>{SHAPE}) and (?P<output>{SHAPE}) are incompatible",
            unless="binary_crossentropy",
        ),
        Wording(
            "Arguments `target` and `output` must have the same",
            rf"target\.shape=(?P<labels>{SHAPE}), output\.shape=(?P<output>{SHAPE})",
            unless="binary_crossentropy",
        ),
    ),
    explain=_explain,
    ways=(ways.CHECK,),
    sources=("https://github.com/keras-team/keras/issues/16228",),
    rank=-1,
)
