"""The file is no TFLite model."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if "file" in read:
        return Cause(
            f"“{read.get('file')}” cannot be opened: the path is wrong, or the file is empty or may not be read.",
            Certainty.CERTAIN,
            (
                Step(
                    "See where it is looked for.",
                    "import pathlib\nprint(pathlib.Path.cwd(), pathlib.Path('model.tflite').stat().st_size)",
                ),
            ),
        )
    return Cause(
        "The file does not hold a TFLite model: a web page or a Git LFS pointer in its place, another format under this name, a file that was written as text, or (Android) one that was compressed in the package.",
        Certainty.LIKELY,
        (
            Step("See how it begins (TFL3 stands at byte 4).", "print(open('model.tflite', 'rb').read(16))"),
            Step("Write it in binary mode.", "open('model.tflite', 'wb').write(converter.convert())"),
            Step("Android: do not compress it.", "aaptOptions { noCompress 'tflite' }"),
        ),
    )


MESSAGE = Message(
    id="tflite-not-a-model",
    title="The file is no TFLite model",
    wordings=(
        Wording("The model is not a valid Flatbuffer"),
        Wording("Model provided has model identifier", r"model identifier '(?P<found>.{1,8}?)', should be 'TFL3'"),
        Wording("Could not open '", r"Could not open '(?P<file>[^']{1,200})'", beside="nterpreter"),
        Wording("Mmap of '", r"Mmap of '(?P<file>[^']{0,200})' failed"),
        Wording("ByteBuffer is not a valid flatbuffer model"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=("https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/lite/core/model_builder.cc",),
)
