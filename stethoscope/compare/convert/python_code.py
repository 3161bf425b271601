"""The Python that begins every conversion done by hand: the model loaded, and as one `tf.function` called `call`."""

from __future__ import annotations

from stethoscope.models.formats import format_of
from stethoscope.types import Architecture, TensorSpec

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
