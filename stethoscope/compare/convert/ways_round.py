"""What to do about operators that a target does not have.

Which formats a target cannot be made from, and why.
"""

from __future__ import annotations

import re

from stethoscope.models.formats import format_of
from stethoscope.types import Architecture

_KNOWN: tuple[tuple[str, str], ...] = (
    (
        r"StringTo|StringSplit|ReduceJoin|StringFormat|StringStrip|StringUpper|StringLength|StaticRegex|RegexReplace|StringLower|UnicodeDecode|StringJoin|Substr|AsString|DecodeRaw|DecodeJpeg"
        r"|DecodePng|DecodeImage|ParseExample|DecodeWav",
        "It prepares text or files: do that before the model, and convert the model that starts at the numbers.",
    ),
    (
        r"LookupTable|HashTable|LookupTableFind|InitializeTable",
        "Look values up before the model, and convert the model that starts at the numbers; or convert to a SavedModel, which keeps tables.",
    ),
    (
        r"Random|Multinomial|StatelessRandom|TruncatedNormal",
        "It draws random numbers: take the layer out of the copy for deployment.",
    ),
    (
        r"PyFunc|EagerPyFunc|NumpyFunction",
        "It calls Python, which no file can hold: write the step with TensorFlow's own operations.",
    ),
    (
        r"TensorList|TensorArray",
        "It grows a list inside a loop: fix the number of rows and steps (a static input shape), or use the layer with unroll=True.",
    ),
    (
        r"^(While|StatelessWhile|If|StatelessIf)$",
        "Loops and branches need fixed shapes here: fix the input's shape, or unroll the loop.",
    ),
    (
        r"FFT",
        "Replace it by two matrix products with the cosine and the sine table: x @ cos for the real part, −x @ sin for the imaginary one.",
    ),
    (r"Bincount", "Count with a fixed number of bins: tf.reduce_sum(tf.one_hot(values, bins), axis)."),
    (
        r"^Segment",
        "Use the unsorted form with a fixed number of segments (tf.math.unsorted_segment_sum), and divide by the counts for a mean.",
    ),
    (
        r"(Max|Avg)Pool3D",
        "Pool twice in two dimensions: fold depth into the rows for height and width, then pool along the depth.",
    ),
    (
        r"^(Complex|Conj|Angle|Real|Imag|ComplexAbs)$",
        "It computes with complex numbers: keep the real and the imaginary part as two tensors of real numbers.",
    ),
    (
        r"Unique|Where|NonMaxSuppression|CombinedNonMaxSuppression",
        "Its result has a size that depends on the values: do this step after the model.",
    ),
    (r"Einsum", "Write the einsum as transpose and matmul."),
    (
        r"SparseTensor|Sparse|Ragged",
        "Give the model dense, padded input (tf.RaggedTensor.to_tensor, tf.sparse.to_dense) and convert from there.",
    ),
    (
        r"MatrixInverse|Cholesky|Svd|Qr|SelfAdjointEig|MatrixDeterminant",
        "No runtime for deployment has it: compute this part outside of the model.",
    ),
    (
        r"CudnnRNN",
        "It needs a GPU: build the layer again with reset_after or activations that the CPU kernel has, and load the weights.",
    ),
)


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


def not_traceable(architecture: Architecture, title: str) -> str:
    """Why TensorFlow cannot trace a model of this format; "" where it can."""
    reason = format_of(architecture).one_way
    if not reason:
        return ""
    return f"{reason}: {title} cannot be made from it. Convert the model that it was made from."
