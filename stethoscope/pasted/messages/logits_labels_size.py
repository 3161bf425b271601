"""Scores and labels have different sizes."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    scores, labels = read.shape("scores"), read.shape("labels")
    if scores and labels and len(scores) == len(labels) == 2 and scores[1] != labels[1]:
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
            f"There are scores for {scores[0]} rows and labels for {labels[0]}: axes were merged on one side only (a reshape with a wrong size, a Flatten that is missing or too much), or pictures and masks differ in size.",
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
