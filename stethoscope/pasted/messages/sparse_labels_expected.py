"""The loss wants class numbers, one for each row."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import SHAPE, Cause, Certainty, Message, Read, Step, Wording, elements, shown


def _explain(read: Read) -> Cause:
    logits, labels = read.shape("logits"), read.shape("labels")
    steps: tuple[Step, ...] = (
        Step(
            "Labels that are one-hot go with the other loss.",
            'model.compile(optimizer, loss="categorical_crossentropy", metrics=["accuracy"])',
        ),
        Step("Or make class numbers of them and keep the loss.", "y = y.argmax(axis=-1)"),
        Step("Look at both shapes before fit.", "print(model.output_shape, y.shape, y[:3])"),
    )
    if logits is None or labels is None:
        return Cause(
            "Sparse categorical cross-entropy compares one class number with one row of scores, and there are more labels than rows (or fewer). Most often the labels are one-hot.",
            Certainty.LIKELY,
            steps,
        )
    told = f"The output is {shown(logits)} and the labels are {shown(labels)}."
    rows, classes = elements(logits[:-1]), logits[-1] if logits else None
    given = elements(labels)
    if classes == 1:
        return Cause(
            f"{told} The last layer has one unit, and sparse categorical cross-entropy chooses among several: a number for each class is wanted, or another loss.",
            Certainty.LIKELY,
            (
                Step("As many units as classes.", 'keras.layers.Dense(10, activation="softmax")'),
                Step("Two classes, one unit; or numbers.", 'model.compile(loss="binary_crossentropy")   # or "mse"'),
                steps[2],
            ),
        )
    if labels and len(labels) == len(logits) and labels[-1] == classes:
        return Cause(
            f"{told} The labels are one-hot over {classes} classes, while sparse categorical cross-entropy wants one class number for each row.",
            Certainty.CERTAIN,
            steps,
        )
    if rows and given and classes and given == rows * classes:
        return Cause(
            f"{told} {given:,} labels are {rows:,} rows times {classes:,} classes: the labels are one-hot, while sparse categorical cross-entropy wants one class number for each row.",
            Certainty.LIKELY,
            steps,
        )
    if rows and given and given > rows and given % rows == 0:
        steps = (
            Step(
                f"Each row has {given // rows} labels. If each position is to be classified, let the last recurrent layer give all positions.",
                "keras.layers.LSTM(64, return_sequences=True)",
            ),
            Step("If each row has one class, give one label.", "y = y[:, -1]"),
            *steps[2:],
        )
        return Cause(
            f"{told} There are {given // rows} labels for each row of scores: the network answers once for a row whose labels are a sequence (or a picture).",
            Certainty.LIKELY,
            steps,
        )
    if rows and given and rows > given and rows % given == 0:
        steps = (
            Step(
                "Flatten or pool before the last layer, or let the last recurrent layer give its last step only.",
                "x = keras.layers.Flatten()(x)   # or GlobalAveragePooling, or LSTM(..., return_sequences=False)",
            ),
            *steps[2:],
        )
        return Cause(
            f"{told} The network gives {rows // given} rows of scores for each label: an axis of positions is still there before the last layer.",
            Certainty.LIKELY,
            steps,
        )
    return Cause(
        f"{told} Sparse categorical cross-entropy wants one class number for each row of scores.",
        Certainty.POSSIBLE,
        steps,
    )


MESSAGE = Message(
    id="sparse-labels-expected",
    title="The loss wants class numbers, one for each row",
    wordings=(
        Wording(
            "an not squeeze dim",
            r"an not squeeze dim\[(?P<axis>\d{1,2})\], expected a dimension of 1, got (?P<units>\d{1,9})",
        ),
        Wording(
            "must have the same first dimension",
            rf"logits and labels must have the same first dimension, got logits shape (?P<logits>{SHAPE}) and labels shape (?P<labels>{SHAPE})",
        ),
        Wording(
            "except for the last dimension",
            rf"labels\.shape=(?P<labels>{SHAPE}).{{0,20}}logits\.shape=(?P<logits>{SHAPE})",
        ),
        Wording(
            "must have rank (ndim) `target.ndim - 1`",
            rf"target\.shape=(?P<labels>{SHAPE}), output\.shape=(?P<logits>{SHAPE})",
        ),
        Wording(
            "Shape mismatch: The shape of labels",
            rf"shape of labels \(received (?P<labels>{SHAPE})\) should equal the shape of logits except for the last dimension \(received (?P<logits>{SHAPE})\)",
        ),
    ),
    explain=_explain,
    ways=(ways.CHECK,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/28226",
        "https://github.com/tensorflow/privacy/issues/38",
        "https://github.com/keras-team/keras/issues/17368",
    ),
)
