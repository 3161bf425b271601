"""TensorFlow's converter to TFLite on a graph of constants, without the copies that it makes of them.

By itself it reads a SavedModel in Python three times and in C++ once more, and takes its result apart and packs it together twice, to
share equal weights and to add its own version (109 M parameters as constants: 14 GB and 90 s). Here the graph is written as a SavedModel
without a detour, only C++ reads it, and the result is packed anew only where large weights are equal.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from stethoscope.compare.convert.traced import FrozenModel, TracedModel
from stethoscope.models.containers import wire
from stethoscope.models.formats.tflite_model.tflite_reader import Stored, read_model

_SIGNATURE, _TAG, _VERSION = "serving_default", "serve", 1
_META_GRAPHS, _GRAPH_DEF, _NODE = 2, 2, 1
"""Numbers of the fields SavedModel.meta_graphs, MetaGraphDef.graph_def and GraphDef.node."""
_WORTH_SHARING = 0.01
"""Of a file: where fewer bytes repeat, it stays as it came (biases of zeros)."""
_LOOKED_AT_BYTES = 4096
"""Of each of two weights, before all of both is compared."""


def write(frozen: FrozenModel, traced: TracedModel, folder: Path) -> Any:
    """Writes a SavedModel with one signature, whose names are those of the traced function.

    Args:
        frozen: the graph of `traced`; a change of its dtypes counts.
        traced: for the names.
        folder: made here.

    Returns:
        The graph without its constants.
    """
    from tensorflow.core.protobuf import meta_graph_pb2

    nodes = {node.name: node for node in frozen.definition.node}
    about = meta_graph_pb2.MetaGraphDef()
    about.meta_info_def.tags.append(_TAG)
    signature = about.signature_def[_SIGNATURE]
    signature.method_name = "tensorflow/serving/predict"
    for (name, _), (tensor, spec) in zip(traced.inputs, frozen.inputs, strict=True):
        kind = nodes[tensor.partition(":")[0]].attr["dtype"].type
        _describe(signature.inputs[name], tensor, kind, spec.shape)
    kinds = {tensor.name: tensor.dtype.as_datatype_enum for tensor in traced.function.outputs}
    for (name, _), (tensor, _) in zip(traced.outputs, frozen.outputs, strict=True):
        _describe(signature.outputs[name], tensor, kinds[tensor], None)
    folder.mkdir(parents=True)
    _write(about.SerializeToString(), frozen.definition, folder / "saved_model.pb")
    return _without_constants(frozen.definition)


def converter(folder: Path, graph: Any) -> Any:
    """A `tf.lite.TFLiteConverter` of a folder that `write` made.

    Args:
        folder: what it is to read.
        graph: what `write` returned.
    """
    return _class()(str(folder), graph)


def _describe(info: Any, tensor: str, kind: int, shape: Sequence[int | None] | None) -> None:
    info.name, info.dtype = tensor, kind
    if shape is None:
        info.tensor_shape.unknown_rank = True
        return
    info.tensor_shape.SetInParent()
    for size in shape:
        info.tensor_shape.dim.add(size=-1 if size is None else size)


def _write(about: bytes, graph: Any, path: Path) -> None:
    """A SavedModel of one MetaGraphDef, operator by operator: parts of a message may follow each other, and weights are large."""
    rest = type(graph)()
    rest.library.CopyFrom(graph.library)
    rest.versions.CopyFrom(graph.versions)
    head = about + _tag(_GRAPH_DEF, rest.ByteSize()) + rest.SerializeToString()
    tags = [_tag(_NODE, node.ByteSize()) for node in graph.node]
    length = sum(len(tag) + node.ByteSize() for tag, node in zip(tags, graph.node, strict=True))
    head += _tag(_GRAPH_DEF, length)
    with path.open("wb") as out:
        out.write(wire.encode_varint(1 << 3) + wire.encode_varint(_VERSION))
        out.write(_tag(_META_GRAPHS, len(head) + length) + head)
        for tag, node in zip(tags, graph.node, strict=True):
            out.write(tag)
            out.write(node.SerializeToString())


def _tag(field: int, length: int) -> bytes:
    return wire.encode_varint(field << 3 | wire.BYTES) + wire.encode_varint(length)


def _without_constants(definition: Any) -> Any:
    light = type(definition)()
    light.node.extend(node for node in definition.node if node.op != "Const")
    light.library.CopyFrom(definition.library)
    return light


@functools.cache
def _class() -> Any:
    from tensorflow.lite.python import convert, lite

    class LeanConverter(lite.TFLiteSavedModelConverterV2):  # type: ignore[misc]
        """See the module's docstring."""

        def __init__(self, folder: str, graph: Any) -> None:
            super().__init__(folder, {_TAG}, [_SIGNATURE])
            self._graph = graph

        def _parse_saved_model_args(self, always_enable_saved_model_import: bool = False) -> None:
            self._saved_model_version = _VERSION

        def convert(self) -> bytes:
            """As the converter it derives from."""
            mode = lite.QuantizationMode(
                self.optimizations,
                self.target_spec,
                self.representative_dataset,
                self._graph,
                self._experimental_disable_per_channel,
                self.experimental_new_dynamic_range_quantizer,
            )
            self._validate_inference_input_output_types(mode)
            arguments = {
                "enable_tflite_resource_variables": self.experimental_enable_resource_variables,
                **self._get_base_converter_args(),
                **mode.converter_flags(),
            }
            content: bytes = convert.convert_saved_model(**arguments)
            if mode.is_integer_quantization():
                options = convert.build_conversion_flags(**arguments).debug_options
                quantised: bytes = self._optimize_tflite_model(content, mode, options, self.experimental_new_quantizer)
                return quantised
            if _repeated_bytes(content) < _WORTH_SHARING * len(content):
                return content
            return bytes(convert.deduplicate_readonly_buffers(content))

    return LeanConverter


def _repeated_bytes(content: bytes) -> int:
    """How much of a TFLite file are weights that stand in it already."""
    view = memoryview(content)
    seen: dict[tuple[int, bytes], list[Stored]] = {}
    found = 0
    for one in _of_tensors(view):
        same = seen.setdefault((one.size_bytes, bytes(_part(view, one, _LOOKED_AT_BYTES))), [])
        if any(_part(view, one) == _part(view, other) for other in same):
            found += one.size_bytes
        else:
            same.append(one)
    return found


def _of_tensors(view: memoryview) -> Iterator[Stored]:
    model = read_model(view)
    for index in sorted({tensor.buffer for subgraph in model.subgraphs for tensor in subgraph.tensors}):
        if model.buffers[index].size_bytes:
            yield model.buffers[index]


def _part(view: memoryview, stored: Stored, most: int | None = None) -> memoryview:
    size = stored.size_bytes if most is None else min(most, stored.size_bytes)
    return view[stored.start : stored.start + size]
