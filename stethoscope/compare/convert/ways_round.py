"""What a user is told to do by hand: the Python that a conversion begins with, and ways round operators that a target lacks."""

from __future__ import annotations

import re

from stethoscope.models.formats import format_of
from stethoscope.types import Architecture, TensorSpec

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


_KERAS = """\
model = keras.models.load_model("{file}")
{prepared}specs = [tf.TensorSpec({shape}, one.dtype, name=one.name) for one in model.inputs]


@tf.function(input_signature=specs)
def call(*inputs):
    return model({given})
"""
_SAVED_MODEL = """\
model = tf.saved_model.load("folder")
signature = next(iter(model.signatures.values()))
specs = [tf.TensorSpec({shape}, one.dtype, name=name) for name, one in signature.structured_input_signature[1].items()]


@tf.function(input_signature=specs)
def call(*inputs):
    return signature(**{{spec.name: one for spec, one in zip(specs, inputs)}})
"""
_FROZEN = """\
graph = tf.compat.v1.GraphDef()
with open("model.pb", "rb") as file:
    graph.ParseFromString(file.read())
model = tf.Module()
specs = [{specs}]


@tf.function(input_signature=specs)
def call(*inputs):
    fed = {{f"{{spec.name}}:0": one for spec, one in zip(specs, inputs)}}
    found = tf.import_graph_def(graph, input_map=fed, return_elements={outputs})
    return dict(zip({names}, found))
"""
UNROLLED = """\
for layer in model._flatten_layers():
    if hasattr(layer, "unroll"):
        layer.unroll = True  # ranges cannot be found inside a loop
"""
FROZEN = """\
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

frozen = convert_variables_to_constants_v2(call.get_concrete_function())"""
"""`call` with constants in place of variables."""


def loading(architecture: Architecture, batch_size: int | None = None, prepared: str = "") -> str:
    """Imports, the model, and `call` with its `specs`.

    Args:
        architecture: of a Keras model, a SavedModel or a frozen graph.
        batch_size: in place of an open first dimension.
        prepared: lines that change a Keras model before it is traced.
    """
    kind = format_of(architecture)
    if kind.live:
        package = "import keras\n" if is_keras_3(architecture) else "import tf_keras as keras\n"
        several = len(architecture.inputs) > 1
        given = "tf.nest.pack_sequence_as(model.input, list(inputs))" if several else "inputs[0]"
        file = f"model{kind.extensions[0]}"
        shape = "one.shape" if batch_size is None else f"[{batch_size}, *one.shape[1:]]"
        return f"{package}import tensorflow as tf\n\n" + _KERAS.format(
            file=file, shape=shape, prepared=prepared, given=given
        )
    if not kind.trainable:  # a graph of constants
        outputs = [spec.name for spec in architecture.outputs]
        return "import tensorflow as tf\n\n" + _FROZEN.format(
            specs=", ".join(_spec(spec, batch_size) for spec in architecture.inputs),
            outputs=[name if ":" in name else f"{name}:0" for name in outputs],
            names=[name.replace("/", "_").replace(":", "_") for name in outputs],
        )
    shape = "one.shape" if batch_size is None else f"[{batch_size}, *one.shape[1:]]"
    return "import tensorflow as tf\n\n" + _SAVED_MODEL.format(shape=shape)


def is_keras_3(architecture: Architecture) -> bool:
    """Whether it is one of Keras 3 or later."""
    return format_of(architecture).live and architecture.framework_version.startswith("Keras 3")


def _spec(spec: TensorSpec, batch_size: int | None) -> str:
    shape = None if spec.shape is None else list(spec.shape)
    if shape and shape[0] is None and batch_size is not None:
        shape[0] = batch_size
    return f'tf.TensorSpec({shape}, "{spec.dtype or "float32"}", name="{spec.name}")'
