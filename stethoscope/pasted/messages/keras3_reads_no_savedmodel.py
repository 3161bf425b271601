"""Keras 3 does not load a SavedModel folder."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    file = read.get("file")
    named = f"“{file}”" if file else "The file"
    suffix = (
        file.rpartition("/")[2].rpartition("\\")[2].rpartition(".")[2].lower() if "." in file.rpartition("/")[2] else ""
    )
    if suffix in {"pkl", "pickle", "hdf5", "pb", "pt", "tflite", "onnx", "json", "ckpt", "h5py"}:
        return Cause(
            f"{named} ends in .{suffix}; Keras 3 goes by the ending and takes .keras and .h5.",
            Certainty.CERTAIN,
            (
                Step("An HDF5 file of another name: call it .h5.", "mv model.hdf5 model.h5"),
                Step("A frozen graph or another format is read by its own runtime; Stethoscope says what the file is."),
            ),
        )
    return Cause(
        f"{named} is a SavedModel folder (or a path without an ending); Keras 3 loads .keras and .h5 only.",
        Certainty.LIKELY,
        (
            Step(
                "For predicting: as a layer, or by TensorFlow itself.",
                "layer = keras.layers.TFSMLayer('folder', call_endpoint='serving_default')\nmodel = tf.saved_model.load('folder')",
            ),
            Step(
                "With layers, for training on: by Keras 2, and save it anew.",
                "pip install tf_keras\nimport tf_keras\nmodel = tf_keras.models.load_model('folder')\nmodel.save('model.keras')",
            ),
            Step(
                "Is it there at all? A path that does not exist reads the same.",
                "import pathlib\nprint(pathlib.Path(path).exists())",
            ),
        ),
    )


MESSAGE = Message(
    id="keras3-reads-no-savedmodel",
    title="Keras 3 does not load a SavedModel folder",
    wordings=(
        Wording(
            "File format not supported: filepath=",
            r"File format not supported: filepath=(?P<file>\S{0,200}?)\.? Keras 3 only supports",
        ),
        Wording("Keras 3 only supports V3 `.keras` files"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE, ways.CONVERT_ONNX),
    sources=(
        "https://github.com/unicode-org/lstm_word_segmentation/issues/28",
        "https://github.com/ThomasMBury/ewstools/issues/438",
        "https://keras.io/guides/serialization_and_saving/",
    ),
)
