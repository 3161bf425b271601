"""TensorFlow Lite (LiteRT) flatbuffers.

The same TFLite graph without its weights: small enough to draw at once.
"""

from __future__ import annotations

import mmap
import struct
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stethoscope.errors import UnreadableFile
from stethoscope.models.containers import wire
from stethoscope.models.containers.flatbuffer import Buffer, Malformed
from stethoscope.models.formats.tflite_model import tflite_layers
from stethoscope.models.formats.tflite_model.tflite_reader import IDENTIFIER, Model, read_model
from stethoscope.models.formats.tflite_model.tflite_schema import schema
from stethoscope.models.model_format import Ends, Format, Program, RuntimeName, WeightsByLayer
from stethoscope.types import Architecture, Layer, ModelFile, Runner, WorkerKind

if TYPE_CHECKING:
    import numpy.typing as npt


class TFLite(Format):
    """`.tflite` files: schema 3, with or without the file identifier (2017 files lack it)."""

    id = "tflite"
    title = "TensorFlow Lite model (.tflite)"
    extensions: tuple[str, ...] = (".tflite", ".lite")
    hint = ".tflite"
    worker: WorkerKind = "light"
    is_program = False
    runtime: RuntimeName = "litert"
    one_way = "A TFLite file has been made for one runtime, its layers fused and its training parts gone"
    lists_inputs = False
    packs_weights = keeps_batch = numbered_nodes = True

    def sniff(self, file: ModelFile) -> bool:
        """Whether it has the identifier TFL3, or the root table of a model."""
        if not file.path.is_file() or file.path.stat().st_size < 24:
            return False
        with file.path.open("rb") as stream:
            head = stream.read(8)
        if head[4:8] == IDENTIFIER:
            return True
        with wire.mapped(file) as view:
            return _has_model_root(view)

    def describe(self, file: ModelFile) -> Architecture:
        """Reads operators, tensors and signatures; weights are not touched.

        Raises:
            UnreadableFile: truncated or malformed.
            TooLarge: a tensor declares more than the budget.
            UnsafeFile: its subgraphs call each other in a circle.
        """
        model = load(file)
        inputs, outputs = tflite_layers.interface(model)
        layers = tuple(tflite_layers.layers(model))
        return Architecture(
            format_id=self.id,
            framework_version=_version(model),
            parameters=sum(layer.parameters for layer in layers),
            trainable_parameters=None,
            inputs=inputs,
            outputs=outputs,
            layers=layers,
            warnings=tuple(_warnings(model)),
            hazards=tuple(tflite_layers.hazards(model)),
            weight_bytes=tflite_layers.weight_bytes(model),
            display_format="TensorFlow Lite",
            runnable=tflite_layers.why_not(model),
            keeps_state=tflite_layers.keeping_state(model),
        )

    def skeleton(self, file: ModelFile) -> tuple[str, bytes]:
        """Returns the same flatbuffer with each weight's bytes replaced by one; shapes and types stay."""

        return f"{Path(file.name).stem}.tflite", without_weights(file, load(file))

    def open(self, file: ModelFile, scratch: Path, *, trusted: bool = False) -> Runner:
        """Opens it with LiteRT on the CPU.

        Raises:
            CannotRun: an operator that LiteRT does not have; says which.
        """
        from stethoscope.models.formats.tflite_model.tflite_runner import LiteRTRunner

        return LiteRTRunner(file, load(file))

    def program(self, name: str, architecture: Architecture) -> Program:
        """See `Format.program`."""
        return Program(
            ("from ai_edge_litert.interpreter import Interpreter",),
            (
                f"interpreter = Interpreter({name!r})",
                "details = {item['name']: item['index'] for item in interpreter.get_input_details()}",
                "for key in list(interpreter.get_signature_list())[:1]:  # its inputs have names of their own",
                "    named = interpreter.get_signature_runner(key).get_input_details()",
                "    details |= {name: item['index'] for name, item in named.items()}",
            ),
            (
                "for name, values in batch.items():",
                "    interpreter.resize_tensor_input(details[name], values.shape)",
                "interpreter.allocate_tensors()",
                "for name, values in batch.items():",
                "    interpreter.set_tensor(details[name], values)",
                "interpreter.invoke()",
                "results.append([interpreter.get_tensor(item['index']) for item in interpreter.get_output_details()])",
            ),
        )

    def weights(self, file: ModelFile) -> AbstractContextManager[WeightsByLayer]:
        """See `Format.weights`."""
        from stethoscope.models.weights.constant_weights import of_tflite

        return of_tflite(file)

    def ends(self, file: ModelFile) -> Ends:
        """See `Format.ends`.

        Raises:
            UnreadableFile, TooLarge, UnsafeFile: as `load`.
        """
        from stethoscope.models.formats.tflite_model.quantised_ends import (
            input_quantisation,
            input_ranges,
            output_quantisation,
        )

        return Ends(input_quantisation(file), output_quantisation(file), input_ranges(file))

    def loads_plainly(self, file: ModelFile) -> bool:
        """See `Format.loads_plainly`: what another signature serves than the first graph is called by its runner."""
        return not tflite_layers.entry_point(load(file))[0]

    def as_keras_lies(self, values: npt.NDArray[Any], layer: Layer) -> npt.NDArray[Any]:
        """See `Format.as_keras_lies`.

        Source: LiteRT's operators FULLY_CONNECTED, CONV_2D, DEPTHWISE_CONV_2D, TRANSPOSE_CONV.
        """
        turned = {
            ("fullyconnected", 2): (1, 0),
            ("conv2d", 4): (1, 2, 3, 0),
            ("transposeconv", 4): (1, 2, 0, 3),
            ("depthwiseconv2d", 4): (1, 2, 3, 0),
        }
        order = turned.get((layer.type.lower().replace("_", ""), values.ndim))
        return values if order is None else values.transpose(order)


def load(file: ModelFile) -> Model:
    """Reads and checks a TFLite file.

    Raises:
        UnreadableFile: truncated or malformed.
        TooLarge, UnsafeFile: see `describe`.
    """
    with wire.mapped(file) as view:
        try:
            model = read_model(view)
        except Malformed as error:
            raise UnreadableFile(
                f"{file.name}: a TFLite file, but {error}. The upload is incomplete or the file is damaged; upload it again."
            ) from error
    tflite_layers.check(file.name, model)
    return model


def _has_model_root(view: memoryview) -> bool:
    try:
        root = Buffer(view).root()
        version = root.scalar(0, "I")
        _, buffers = root.vector(4, 4)
        code = next(root.tables(1), None)
        subgraph = next(root.tables(2), None)
        if code is None or subgraph is None or not buffers or version not in (1, 2, 3):
            return False
        code.scalar(3, "i")
        return next(subgraph.tables(0), None) is not None and next(subgraph.tables(3), None) is not None
    except Malformed:
        return False


def _version(model: Model) -> str:
    version = f"TFLite schema {model.version}"
    return f"{version}, runtime ≥ {model.min_runtime}" if model.min_runtime else version


def _warnings(model: Model) -> list[str]:
    found = []
    if len(model.signatures) > 1:
        keys = ", ".join(signature.key[:80] for signature in model.signatures[:10])
        _, shown = tflite_layers.entry_point(model)
        found.append(
            f"It has {len(model.signatures)} signatures ({keys}); inputs, outputs and runs are those of {shown.key if shown else ''}."
        )
    mismatch = tflite_layers.stored_mismatch(model)
    if mismatch is not None:
        found.append(
            f"Tensor {mismatch.name[:80]!r} of shape {list(mismatch.shape or ())} needs {mismatch.declared_bytes:,} bytes, "
            f"but {mismatch.stored_bytes:,} are stored; runtimes refuse that."
        )
    if any(tensor.is_sparse for subgraph in model.subgraphs for tensor in subgraph.tensors):
        found.append("Some weights are stored sparse; parameters count their dense elements.")
    return found


FORMAT = TFLite()


_KEPT_BYTES = 256
"""Shapes, axes and paddings stay readable in the drawing; weights are larger."""
_KEPT_METADATA_BYTES = 1 << 20
_KEPT_OPTIONS_BYTES = 4096
"""Options of a custom operator; compiled programs and vocabularies hide there."""
_KEPT_RANGES = 64
"""Per-channel minima and maxima: what the converter saw, not what the model computes with."""


def without_weights(file: ModelFile, model: Model) -> bytes:
    """Returns a flatbuffer with the payload of each large buffer cut to one byte, so that it still counts as a constant.

    The file is mapped copy-on-write and the lengths of large payloads are patched there, so payloads are never read.

    Raises:
        UnreadableFile: a part that the drawing needs is malformed.
    """
    generated = schema()
    metadata = set(model.metadata.values())
    with file.path.open("rb") as stream:
        private = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_COPY)
    for index, stored in enumerate(model.buffers):
        kept = _KEPT_METADATA_BYTES if index in metadata else _KEPT_BYTES
        inside = stored.size_bytes and struct.unpack_from("<I", private, stored.start - 4)[0] == stored.size_bytes
        if inside and stored.size_bytes > kept:
            struct.pack_into("<I", private, stored.start - 4, 1)
    try:
        graph = generated.ModelT.InitFromPackedBuf(private)
        for buffer in graph.buffers or ():
            _drop_outside(buffer)
        for subgraph in graph.subgraphs or ():
            _drop_details(subgraph)
        import flatbuffers

        builder = flatbuffers.Builder(1 << 16)
        builder.Finish(graph.Pack(builder), file_identifier=IDENTIFIER)
    except (struct.error, ValueError, TypeError, IndexError, OverflowError, AttributeError) as error:
        raise UnreadableFile(f"{file.name}: its graph cannot be drawn ({error}). Export the model again.") from error
    return bytes(builder.Output())


def _drop_outside(buffer: Any) -> None:
    """Buffers behind the flatbuffer (files above 2 GB) become one byte inside it."""
    if buffer is not None and buffer.offset > 1 and buffer.size:
        buffer.data, buffer.offset, buffer.size = [0], 0, 0


def _drop_details(subgraph: Any) -> None:
    for operator in subgraph.operators or ():
        if operator.customOptions is not None and len(operator.customOptions) > _KEPT_OPTIONS_BYTES:
            operator.customOptions = None
        operator.largeCustomOptionsOffset = operator.largeCustomOptionsSize = 0
    for tensor in subgraph.tensors or ():
        ranges = tensor.quantization
        if ranges is not None and ranges.max is not None and len(ranges.max) > _KEPT_RANGES:
            ranges.min = ranges.max = None
