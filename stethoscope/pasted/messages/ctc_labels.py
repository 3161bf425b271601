"""Labels do not fit a CTC loss."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if read.says("Saw a non-null label"):
        classes = read.number("classes")
        last = (
            f" With {classes} outputs the labels may be 0 to {classes - 2}; {classes - 1} is the blank."
            if classes
            else ""
        )
        return Cause(
            f"A label has a number that CTC reads as “nothing” (the last output, or beyond), and another label follows it.{last}",
            Certainty.CERTAIN,
            (
                Step(
                    "One output more than there are characters.",
                    "keras.layers.Dense(len(characters) + 1, activation='softmax')",
                ),
            ),
        )
    return Cause(
        "The label is longer than the network's output has steps (repeated letters need one more each), so no way of reading it exists; rows with empty audio or pictures that are pooled too much do so.",
        Certainty.LIKELY,
        (
            Step(
                "Drop rows whose label is too long, or pool less along time.",
                "keep = [len(label) * 2 + 1 <= steps for label in labels]",
            ),
            Step("input_length counts the steps of the output, not of the input.", "print(model.output_shape)"),
        ),
    )


MESSAGE = Message(
    id="ctc-labels",
    title="Labels do not fit a CTC loss",
    wordings=(
        Wording("Saw a non-null label", r"num_classes: (?P<classes>\d{1,9})"),
        Wording(
            "Not enough time for target transition sequence",
            r"required: (?P<wanted>\d{1,9}), available: (?P<found>\d{1,9})",
        ),
        Wording("No valid path found"),
    ),
    explain=_explain,
    ways=(ways.CHECK, ways.DATA),
    sources=(
        "https://github.com/nl8590687/ASRT_SpeechRecognition/issues/315",
        "https://github.com/buriburisuri/speech-to-text-wavenet/issues/74",
    ),
)
