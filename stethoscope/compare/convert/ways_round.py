"""What a user is told to do by hand: the Python that a conversion begins with, and ways round operators that a target lacks.

Which operator a converter or a runtime means, and which layer of the source it came from.

Which operator of a TFLite file LiteRT means by "Node number 7 (CONCATENATION)", and which layer of the source it came from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from stethoscope.compare.convert.converter import CannotConvert, Source, Unsupported
from stethoscope.errors import StethoscopeError
from stethoscope.models.formats import format_of
from stethoscope.models.formats.tflite import load
from stethoscope.types import Architecture, ModelFile, TensorSpec

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
        "It grows a list inside a loop: fix the number of rows (--batch-size 1) and steps (a static input shape), or use the layer with unroll=True.",
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


_CALL = re.compile(r"(?:Stateful)?PartitionedCall(?:_\d+)?/")
_NUMBER = re.compile(r"_\d+$")


class Origins:
    """Layers by what is left of their names in the names of operators."""

    def __init__(self, architecture: Architecture) -> None:
        self._paths: Mapping[str, str] = {layer.path: layer.path for layer in architecture.layers}
        self._types: Mapping[str, str] = {layer.path: layer.type for layer in architecture.layers}
        self._keras = format_of(architecture).live
        self._numbered = architecture.framework_version.startswith("Keras 3")
        self._lasts: dict[str, str | None] = {}
        self._bare: dict[str, str | None] = {}
        """Operations that are layers by themselves (keras.ops), by their type in small letters; None where it is not one alone."""
        for layer in architecture.layers:
            if self._keras and layer.parameters == 0:
                self._bare[layer.type.lower()] = None if layer.type.lower() in self._bare else layer.path
            last = layer.path.rsplit("/", 1)[-1]
            self._lasts[last] = None if last in self._lasts else layer.path

    def layer(self, operator: str) -> str:
        """The path of the layer behind an operator's name ("model/encoder/dense_1/MatMul:0"); "" where none is named in it.

        Keras 3 opens the scope of a layer under its name and a number: "model_1/dense_1" is the layer "dense".
        """
        parts = _CALL.sub("", operator).partition(":")[0].partition("@")[0].replace(";", "/").split("/")
        bare = [_NUMBER.sub("", part) for part in parts]
        first, second = (bare, parts) if self._numbered else (parts, bare)
        if self._keras:  # the last part is the operator's own name: "lstm/lstm_cell/add" is not the layer "add"
            found = next((path for one in (first[:-1], second[:-1], first, second) if (path := self._found(one))), "")
            return found or self._bare.get(bare[-1].lower()) or ""
        return self._found(first) or self._found(second)

    def type(self, path: str) -> str:
        """The type of the layer at a path; "" for a Keras layer, of whose operators it does not tell, or for none."""
        return "" if self._keras else self._types.get(path, "")

    def _found(self, parts: Sequence[str]) -> str:
        for end in range(len(parts), 0, -1):
            for start in range(end):
                if found := self._paths.get("/".join(parts[start:end])):
                    return found
        for part in reversed(parts):
            if found := self._lasts.get(part):
                return found
        return ""


_NODE = re.compile(r"Node number (?P<number>\d+) \((?P<operator>\w+)\)")
_CUSTOM = re.compile(r"unresolved custom op(?:erator)?:? '?(?P<operator>\w+)|custom operator (?P<named>\w+)")


def nodes_named(text: str, path: Path, origins: Origins) -> list[tuple[str, str]]:
    """(operator, layer of the source or "") for each operator that LiteRT's error names; none where it names none.

    LiteRT counts the operators of one subgraph, and does not say which: the first where this operator stands at this place counts.

    Args:
        text: the error.
        path: the TFLite file that it speaks of.
        origins: the source's layers.
    """
    found = [(match["operator"], int(match["number"])) for match in _NODE.finditer(text)]
    custom = [(match["operator"] or match["named"], None) for match in _CUSTOM.finditer(text)]
    named: list[tuple[str, int | None]] = [one for one in found if one[0] != "DELEGATE"]
    named += [one for one in custom if one[0] not in {operator for operator, _ in named}]
    return list(dict.fromkeys((operator, _layer(path, operator, number, origins)) for operator, number in named))


def _layer(path: Path, operator: str, number: int | None, origins: Origins) -> str:
    try:
        subgraphs = load(ModelFile(path, path.name)).subgraphs
    except StethoscopeError:
        return ""
    for subgraph in subgraphs:
        for place, one in enumerate(subgraph.operators):
            if one.type == operator and number in (None, place):
                names = [subgraph.tensors[index].name for index in one.outputs if index != -1]
                return next((layer for layer in map(origins.layer, names) if layer), "")
    return ""


_ONNX = tuple(
    re.compile(pattern)
    for pattern in (
        r"operator \((?P<operator>\w+)\) in node \((?P<node>[^)]*)\)",
        r"running (?P<operator>\w+) node\. Name:'(?P<node>[^']*)'",
        r"implementation for (?P<operator>\w+)\(\d+\) node with name '(?P<node>[^']*)'",
        r"Optype \((?P<operator>\w+)\) .*in node \((?P<node>[^)]*)\)",
        r"Node \((?P<node>[^)]*)\) Op \((?P<operator>\w+)\)",
    )
)
"""How ONNX Runtime names an operator and its place."""
_DTYPE = re.compile(r"Type Error|Could not find an implementation")
_ENDINGS = re.compile(r"(_dequant|_quant|__\d+|:\d+)+$")


def refused(error: Exception, source: Source, made: Path) -> CannotConvert:
    """That a file was made and does not run.

    Args:
        error: what the runtime says.
        source: the model that was converted.
        made: the file that was made, with whose name the error begins.
    """
    said = str(error).removeprefix(f"{made.name}: ")
    advice = _advice(said, source)
    found = [
        Unsupported(operator, layer, way_round=advice)
        for operator, layer in _named(error, made, Origins(source.architecture))
    ]
    where = f" at {found[0].operator}{f' (layer {found[0].layer})' if found[0].layer else ''}" if found else ""
    return CannotConvert(
        f"{source.file.name}: a file was made, but its runtime refuses it{where}: {said} {advice}", found
    )


def _advice(said: str, source: Source) -> str:
    if format_of(source.architecture).one_way:
        return "Convert the model that it was made from."
    if _DTYPE.search(said):
        return "It has no such operator for numbers of this kind: build the layer in float32 (or int32), or convert to another target."
    return "Fix the number of rows (--batch-size 1), or convert it to another target."


def _named(error: BaseException, made: Path, origins: Origins) -> Iterator[tuple[str, str]]:
    """(operator, layer) that the error, or what it came from, speaks of."""
    seen: BaseException | None = error
    while seen is not None:
        text = str(seen)
        if match := next(filter(None, (pattern.search(text) for pattern in _ONNX)), None):
            yield match["operator"], origins.layer(_ENDINGS.sub("", match["node"]))
            return
        if made.suffix == ".tflite" and (found := nodes_named(text, made, origins)):
            yield from found
            return
        seen = seen.__cause__
