"""Memory ran out while a tensor was made."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import SHAPE, Cause, Certainty, Message, Read, Step, Wording, elements, shown
from stethoscope.sizes import human_bytes

_NO_MEMORY = r"(?!.{0,400}?(?:No space left|Too many open files|[Qq]uota|429))"
"""Not what runs out besides memory: the disk, open files, a service's calls."""


def _bytes(read: Read) -> int | None:
    shape = read.shape("shape")
    count = elements(shape)
    sizes = {"float": 4, "int32": 4, "double": 8, "int64": 8, "half": 2, "bfloat16": 2, "uint8": 1, "bool": 1}
    return None if count is None or not shape else count * sizes.get(read.get("type", "float"), 4)


def _explain(read: Read) -> Cause:
    shape, size = read.shape("shape"), _bytes(read)
    card = "GPU" in read.get("place") + read.get("allocator") + read.get("device") or read.says(
        "GPU_0_bfc", "CUDA_ERROR_OUT_OF_MEMORY"
    )
    where = (
        "on the GPU"
        if card
        else "in the machine's memory"
        if "CPU" in read.get("place") or "cpu" in read.get("allocator")
        else ""
    )
    asked = f"A tensor of shape {shown(shape)}" if shape is not None else "A tensor"
    asked += f" ({human_bytes(size)})" if size else ""
    steps = [
        Step(
            "Smaller batches need less, nearly in proportion; find the largest that fits by measuring.",
            "model.fit(x, y, batch_size=8)",
        ),
        Step(
            "Mixed precision halves activations (on a GPU).", "keras.mixed_precision.set_global_policy('mixed_float16')"
        ),
    ]
    more = ""
    if (
        shape is not None
        and len(shape) == 4
        and shape[-1] == shape[-2]
        and (shape[-1] or 0) >= 256
        and (shape[1] or 0) <= 64
    ):
        more = f" Its last two axes are equal ({shape[-1]}): feature maps of pictures with channels first, as a card has them, or the scores of an attention, which grow with the square of the length."
        steps.insert(
            0,
            Step(
                "Attention: half the length is a quarter of this tensor. Pictures: half the side is.",
                f"tokenizer(text, truncation=True, max_length={(shape[-1] or 2) // 2})",
            ),
        )
    elif shape is not None and len(shape) == 2 and (elements(shape) or 0) > 50_000_000:
        more = " It has two axes: most often the kernel of a Dense layer (often right after Flatten), an embedding, or the whole data as one tensor."
        steps.insert(
            0, Step("A Dense layer after Flatten: pool first.", "x = keras.layers.GlobalAveragePooling2D()(x)")
        )
    if card:
        steps.append(
            Step(
                "Another process (a notebook, too) may hold the card: TensorFlow takes all of it unless it is told not to.",
                "nvidia-smi\ntf.config.experimental.set_memory_growth(tf.config.list_physical_devices('GPU')[0], True)   # first lines of the program",
            )
        )
    return Cause(
        f"{asked} did not fit {where}.{more}".replace("  ", " ").replace(" .", "."),
        Certainty.LIKELY
        if "loose" in read and not read.says("OOM", "ut of memory", "o allocate", "alloc memory")
        else Certainty.CERTAIN,
        tuple(steps),
    )


MESSAGE = Message(
    id="out-of-memory-tensor",
    title="Memory ran out while a tensor was made",
    wordings=(
        Wording(
            "OOM when allocating tensor",
            rf"OOM when allocating tensor with shape ?(?P<shape>{SHAPE})(?: and type (?P<type>\w{{1,20}}))?(?: on (?P<place>[\w/:]{{1,120}}))?(?: by allocator (?P<allocator>\w{{1,40}}))?",
        ),
        Wording(
            "OOM when allocating tensor of shape", rf"of shape (?P<shape>{SHAPE})(?: and type (?P<type>\w{{1,20}}))?"
        ),
        Wording("failed to allocate memory [Op:", r"\[Op:(?P<operation>\w{1,60})\]"),
        Wording("Out of memory while trying to allocate", r"trying to allocate (?P<size>[\d.]{1,20} ?\w{0,5})"),
        Wording("ResourceExhaustedError: ", rf"(?P<loose>ResourceExhaustedError): {_NO_MEMORY}"),
        Wording("RESOURCE_EXHAUSTED: ", rf"(?P<loose>RESOURCE_EXHAUSTED): {_NO_MEMORY}"),
    ),
    explain=_explain,
    ways=(ways.SWEEP, ways.TRAINING_MEMORY),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/17669",
        "https://github.com/tensorflow/models/issues/7142",
        "https://github.com/mozilla/DeepSpeech/issues/1940",
    ),
)
