"""The arena of the microcontroller is too small."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    missing, wanted, have = read.number("missing"), read.number("wanted"), read.number("have")
    told = ""
    if wanted and have:
        told = f" {wanted:,} bytes are wanted and {have:,} are free."
    elif missing:
        told = f" {missing:,} bytes are missing."
    if wanted and wanted > 1 << 30:
        return Cause(
            "The planner asks for a size that cannot be: a shape inside the model is not known (-1) or overflows, so it was converted with a free axis.",
            Certainty.LIKELY,
            (
                Step(
                    "Convert with all shapes fixed, a batch of 1 among them.",
                    "model = keras.Model(keras.Input(batch_shape=(1, 96, 96, 1)), …)",
                ),
            ),
        )
    return Cause(
        f"The tensor arena does not hold the model.{told} The message comes for the first buffer that fails; the next may want more.",
        Certainty.CERTAIN if wanted or read.says("Arena size") else Certainty.LIKELY,
        (
            Step(
                "Give it more, then ask what it used and cut it back.",
                'constexpr int kTensorArenaSize = 200 * 1024;\nMicroPrintf("%d", interpreter.arena_used_bytes());',
            ),
            Step("Make the model smaller inside: its largest layer decides (resolution, channels, int8)."),
        ),
    )


MESSAGE = Message(
    id="tflite-micro-arena",
    title="The arena of the microcontroller is too small",
    wordings=(
        Wording(
            "Failed to resize buffer. Requested",
            r"Requested: (?P<wanted>\d{1,12}), available:? (?P<have>\d{1,12}), missing: (?P<missing>\d{1,12})",
        ),
        Wording(
            "Failed to allocate",
            r"Failed to allocate (?:tail |temp )?memory\. Requested: (?P<wanted>\d{1,12}), available:? (?P<have>\d{1,12}), missing: (?P<missing>\d{1,12})",
        ),
        Wording("Arena size is too small for all buffers", r"Needed (?P<wanted>\d{1,12}) but only (?P<have>\d{1,12})"),
        Wording("Failed to allocate temp memory"),
        Wording("Arena size is too small for all buffers"),
    ),
    explain=_explain,
    ways=(ways.CONVERT_INT8, ways.DESCRIBE),
    sources=(
        "https://github.com/tensorflow/tflite-micro/issues/1458",
        "https://github.com/HimaxWiseEyePlus/himax_tflm/issues/18",
    ),
)
