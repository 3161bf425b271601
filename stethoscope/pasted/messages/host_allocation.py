"""The machine's memory does not hold an array."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording, shown


def _explain(read: Read) -> Cause:
    shape, size, kind = read.shape("shape"), read.get("size"), read.get("type")
    steps = [
        Step(
            "Read the data in pieces instead of as one array.",
            "dataset = keras.utils.image_dataset_from_directory(folder, batch_size=32)",
        ),
        Step("Or leave it on the disk.", "x = np.load('x.npy', mmap_mode='r')"),
    ]
    if shape is None:
        return Cause(
            "The machine's memory did not hold what was to be allocated.",
            Certainty.CERTAIN if "sure" in read else Certainty.LIKELY,
            tuple(steps),
        )
    told = (
        f"An array of shape {shown(shape)}"
        + (f" and type {kind} needs {size}" if size else "")
        + ", more than the machine has free."
    )
    if kind == "float64":
        steps.insert(
            0,
            Step(
                "float32 halves it; pictures as uint8 are an eighth, scaled in the model.",
                "x = x.astype('float32')\nkeras.layers.Rescaling(1 / 255)",
            ),
        )
    elif len(shape) >= 4 and kind != "uint8":
        steps.insert(
            0,
            Step(
                "Pictures as uint8 are a quarter of float32; scale them in the model.",
                "x = x.astype('uint8')\nkeras.layers.Rescaling(1 / 255)",
            ),
        )
    if len(shape) == 2 and shape[0] == shape[1]:
        steps.insert(0, Step("A square matrix over all rows (distances, a kernel): compute it in blocks."))
    elif len(shape) in (2, 3) and (shape[-1] or 0) > 5_000:
        steps.insert(
            0,
            Step(
                "One-hot over many classes: keep the numbers and take the sparse loss.",
                "model.compile(optimizer, loss='sparse_categorical_crossentropy')",
            ),
        )
    return Cause(told, Certainty.CERTAIN, tuple(steps))


MESSAGE = Message(
    id="host-allocation",
    title="The machine's memory does not hold an array",
    wordings=(
        Wording(
            "Unable to allocate",
            r"Unable to allocate (?P<size>[\d.]{1,12} ?[KMGTPE]?i?B) for an array with shape (?P<shape>\([\d, ]{0,80}\)) and data type (?P<type>[<>|\w]{1,20})",
        ),
        Wording(
            "Unable to allocate array with shape",
            r"with shape (?P<shape>\([\d, ]{0,80}\)) and data type (?P<type>[<>|\w]{1,20})",
        ),
        Wording("std::bad_alloc", r"(?P<sure>bad_alloc)"),
        Wording("MemoryError", r"(?<![A-Za-z])(?P<sure>MemoryError)"),
        Wording("Cannot allocate memory"),
    ),
    explain=_explain,
    ways=(ways.PREDICT, ways.DATA),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/39442",
        "https://github.com/debajyotikarmaker/cvpr_4234/issues/15",
        "https://github.com/keras-team/keras/issues/13139",
    ),
    rank=-1,
)
