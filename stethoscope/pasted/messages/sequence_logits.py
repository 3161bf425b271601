"""Labels have one axis too few or too many for the scores."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import SHAPE, Cause, Certainty, Message, Read, Step, Wording, shown


def _explain(read: Read) -> Cause:
    logits, labels = read.shape("logits"), read.shape("labels")
    told = (
        f"The labels are {shown(labels)}, the scores {shown(logits)}. "
        if logits is not None and labels is not None
        else ""
    )
    return Cause(
        f"{told}A sparse cross-entropy wants labels with the axes of the scores but the last one: one class number for each position. Either the network still gives one score for each time step, or the labels have an axis of their own.",
        Certainty.LIKELY,
        (
            Step(
                "One label for a row: drop the axis of time or of places before the last layer.",
                "keras.layers.LSTM(64)   # return_sequences=False, or Flatten()/GlobalAveragePooling1D()",
            ),
            Step(
                "One label for each position: give them all.",
                "print(model.output_shape, y.shape)   # (rows, steps, classes) and (rows, steps)",
            ),
        ),
    )


MESSAGE = Message(
    id="sequence-logits",
    title="Labels have one axis too few or too many for the scores",
    wordings=(
        Wording(
            "must equal `logits.shape.rank - 1`",
            rf"labels\.shape=(?P<labels>{SHAPE}).{{0,40}}logits\.shape=(?P<logits>{SHAPE})",
        ),
        Wording(
            "Rank mismatch: Rank of labels",
            r"Rank of labels \(received (?P<labels_rank>\d{1,2})\) should equal rank of logits minus 1 \(received (?P<logits_rank>\d{1,2})\)",
        ),
    ),
    explain=_explain,
    ways=(ways.CHECK,),
    sources=("https://github.com/google/seq2seq/issues/328",),
)
