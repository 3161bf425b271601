"""What to do about operators that a target does not have."""

from __future__ import annotations

import re

_KNOWN: tuple[tuple[str, str], ...] = (
    (
        r"StringTo|StringSplit|ReduceJoin|StringFormat|StringStrip|StringUpper|StringLength|StaticRegex|RegexReplace|StringLower|UnicodeDecode|StringJoin|Substr|AsString|DecodeRaw|DecodeJpeg"
        r"|DecodePng|DecodeImage|ParseExample|DecodeWav",
        "It prepares text or files: do that before the model, and convert the model that starts at the numbers.",
    ),
    (
        r"LookupTable|HashTable|LookupTableFind|InitializeTable",
        "It looks words up in a table: do that before the model, and convert the model that starts at the numbers.",
    ),
    (r"Random|Multinomial|StatelessRandom|TruncatedNormal", "It draws random numbers: take the layer out of the copy for deployment."),
    (r"PyFunc|EagerPyFunc|NumpyFunction", "It calls Python, which no file can hold: write the step with TensorFlow's own operations."),
    (
        r"TensorList|TensorArray",
        "It grows a list inside a loop: fix the number of rows and steps (a static input shape), or use the layer with unroll=True.",
    ),
    (r"^(While|StatelessWhile|If|StatelessIf)$", "Loops and branches need fixed shapes here: fix the input's shape, or unroll the loop."),
    (r"FFT", "Replace it by two matrix products with the sine and cosine table (tf.signal does so for short signals)."),
    (r"Unique|Where|NonMaxSuppression|CombinedNonMaxSuppression|Bincount", "Its result has a size that depends on the values: do this step after the model."),
    (r"Einsum", "Write the einsum as transpose and matmul."),
    (r"SparseTensor|Sparse|Ragged", "Give the model dense, padded input (tf.RaggedTensor.to_tensor) and convert from there."),
    (r"MatrixInverse|Cholesky|Svd|Qr|SelfAdjointEig|MatrixDeterminant", "No runtime for deployment has it: compute this part outside of the model."),
    (r"CudnnRNN", "It needs a GPU: build the layer again with reset_after or activations that the CPU kernel has, and load the weights."),
)  # fmt: skip


def way_round(operator: str, target: str) -> str:
    """A sentence that says what to do, "" where nothing is known.

    Args:
        operator: its type, as TensorFlow calls it.
        target: the title of the target.
    """
    for pattern, advice in _KNOWN:
        if re.search(pattern, operator):
            return advice
    return f"Replace it by operations that {target} has, or compute this part outside of the model."
