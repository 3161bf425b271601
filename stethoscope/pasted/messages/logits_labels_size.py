"""Scores and labels have different sizes."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording, shown


def _explain(read: Read) -> Cause:
    scores, labels = read.shape("scores"), read.shape("labels")
    if scores and labels and len(labels) == 2 and labels[1] == 1:
        return Cause(
            f"The scores are {shown(scores)} and the labels {shown(labels)}: one number for each row, as class numbers are, beside a loss that wants them one-hot.",
            Certainty.LIKELY,
            (
                Step("Class numbers.", "model.compile('adam', 'sparse_categorical_crossentropy')"),
                Step("Or one-hot.", "y = keras.utils.to_categorical(y)"),
            ),
        )
    if scores and labels and len(scores) == len(labels) == 2 and scores[0] == labels[0] and scores[1] != labels[1]:
        return Cause(
            f"The last layer has {scores[1]} units and the labels are one-hot of {labels[1]} classes; they have to be equal.",
            Certainty.CERTAIN,
            (
                Step(
                    "As many units as classes: a folder too many is one more class (hidden ones, desktop.ini).",
                    "print(train.class_indices)\nkeras.layers.Dense(len(train.class_indices), activation='softmax')",
                ),
            ),
        )
    if scores and labels:
        return Cause(
            f"The scores are {shown(scores)} and the labels {shown(labels)}: axes were merged on one side only (a reshape with a wrong size, a Flatten that is missing or too much), or pictures and masks differ in size.",
            Certainty.LIKELY,
            (Step("Follow the number of rows through the model.", "print(model.output_shape, x.shape, y.shape)"),),
        )
    return Cause(
        "The scores of the last layer and the labels have different sizes.",
        Certainty.CERTAIN,
        (Step("Look at both.", "print(model.output_shape, y.shape)"),),
    )


MESSAGE = Message(
    id="logits-labels-size",
    title="Scores and labels have different sizes",
    wordings=(
        Wording(
            "logits and labels must be broadcastable",
            r"logits_size=(?P<scores>\[[\d,]{1,40}\]) labels_size=(?P<labels>\[[\d,]{1,40}\])",
        ),
        Wording(
            "logits and labels must be same size",
            r"logits_size=(?P<scores>\[[\d,]{1,40}\]) labels_size=(?P<labels>\[[\d,]{1,40}\])",
        ),
        Wording(
            "logits and labels must be the same size",
            r"logits_size=(?P<scores>\[[\d,]{1,40}\]) labels_size=(?P<labels>\[[\d,]{1,40}\])",
        ),
        Wording("logits and labels must be broadcastable"),
    ),
    explain=_explain,
    ways=(ways.CHECK, ways.LAYERS),
    sources=(
        "https://github.com/krishnaik06/Deep-Learning-Car-Brand/issues/5",
        "https://github.com/tensorflow/models/issues/8395",
        "https://github.com/clovaai/assembled-cnn/issues/9",
    ),
)
