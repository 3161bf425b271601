"""ONNX models: one protobuf file, or an archive of it and its external data."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stethoscope.models.containers import archive, wire
from stethoscope.models.formats.onnx_model import onnx_layers, onnx_quantised, onnx_shapes
from stethoscope.models.formats.onnx_model.onnx_reader import Reading, holds_model, read_model
from stethoscope.models.model_format import Ends, Format, Program, RuntimeName, WeightsByLayer
from stethoscope.types import Architecture, Layer, ModelFile, Runner, TensorSpec, WorkerKind

if TYPE_CHECKING:
    import numpy.typing as npt
    import onnx

_VARINTS, _MESSAGES = {1, 5}, {2, 3, 4, 6, 7, 8, 14, 20, 25, 26}
_SNIFFED_FIELDS = 4096
_NEWEST_IR = 64
_PACKINGS = {
    ".zip": "zip",
    ".tar": "tar",
    **dict.fromkeys((".gz", ".tgz"), "gztar"),
    **dict.fromkeys((".bz2", ".tbz2"), "bztar"),
    **dict.fromkeys((".xz", ".txz"), "xztar"),
}
"""What `shutil` calls an archive with this suffix."""


class Onnx(Format):
    """`.onnx` files of any IR version."""

    id = "onnx"
    title = "ONNX model (.onnx, or a zip of it and its data files)"
    extensions: tuple[str, ...] = (".onnx", ".zip", ".tar", ".gz", ".tgz")
    hint = ".onnx"
    worker: WorkerKind = "light"
    is_program = False
    runtime: RuntimeName = "onnxruntime"
    channels_first = weights_judged = nameless_nodes = True
    one_way = "An ONNX file has left TensorFlow, and nothing well kept leads back"
    lists_inputs = False

    def sniff(self, file: ModelFile) -> bool:
        """Whether its top-level fields are those of a ModelProto with a graph, or an archive lists a .onnx."""
        if not file.path.is_file() or file.path.stat().st_size == 0:
            return False
        if archive.is_archive(file.path):
            return holds_model(file.path)
        with wire.mapped(file) as view:
            return _looks_like_model(view)

    def describe(self, file: ModelFile) -> Architecture:
        """Reads the graph; weights are skipped over, not read.

        Raises:
            UnreadableFile: truncated, malformed, or without its external data.
            UnsafeFile: external data outside its folder, or subgraphs nested deeper than any runtime goes.
            TooLarge: it declares more than the budget.
        """
        reading = read_model(file)
        model = reading.parsed(file.name)
        types = onnx_shapes.declared(model.graph)
        if not onnx_shapes.complete(types, model.graph):
            for key, values in onnx_shapes.inferred(model).items():
                types[key] = values | {
                    name: known for name, known in types.get(key, {}).items() if known.shape is not None
                }
        reader = onnx_layers.LayerReader(types, onnx_quantised.scales(model.graph))
        layers = list(reader.main(model.graph))
        for function in model.functions:
            layers += reader.function(function)
        return Architecture(
            format_id=self.id,
            framework_version=_version(model),
            parameters=sum(layer.parameters for layer in layers),
            trainable_parameters=None,
            inputs=graph_inputs(model.graph),
            outputs=tuple(types[""].get(value.name, onnx_shapes.spec(value)) for value in model.graph.output),
            layers=tuple(layers),
            warnings=tuple(_warnings(model, reading)),
            hazards=tuple(onnx_shapes.hazards(model)),
            weight_bytes=reading.weight_bytes,
            display_format="ONNX",
            runnable=onnx_shapes.why_not(model, reading.without_data),
        )

    def skeleton(self, file: ModelFile) -> tuple[str, bytes]:
        """Returns the same model with large tensors turned into references to data that is not there; shapes stay."""
        name = Path(file.name)
        return f"{name.stem}.onnx", read_model(file).skeleton

    def open(self, file: ModelFile, scratch: Path, *, trusted: bool = False) -> Runner:
        """Opens it with onnxruntime on the CPU.

        Raises:
            CannotRun: an operator, opset or IR version that onnxruntime does not have; says which.
        """
        from stethoscope.models.formats.onnx_model.onnx_runner import OnnxRunner

        return OnnxRunner(file, scratch)

    def program(self, name: str, architecture: Architecture) -> Program:
        """See `Format.program`; what is packed is unpacked first, with its data beside it."""
        call = ("results.append(session.run(None, batch))",)
        packing = next((kind for suffix, kind in _PACKINGS.items() if name.lower().endswith(suffix)), "")
        if not packing:
            load = f"session = onnxruntime.InferenceSession({name!r}, providers=['CPUExecutionProvider'])"
            return Program(("import onnxruntime",), (load,), call)
        checked = "" if packing == "zip" else ", filter='data'"
        return Program(
            ("import pathlib", "import shutil", "import tempfile", "import onnxruntime"),
            (
                "unpacked = tempfile.TemporaryDirectory()  # is removed with the variable",
                f"shutil.unpack_archive({name!r}, unpacked.name, {packing!r}{checked})",
                "files = pathlib.Path(unpacked.name).rglob('*')",
                "path = next(file for file in files if file.suffix.lower() == '.onnx' and file.name[:2] != '._')",
                "session = onnxruntime.InferenceSession(path, providers=['CPUExecutionProvider'])",
            ),
            call,
        )

    def weights(self, file: ModelFile) -> AbstractContextManager[WeightsByLayer]:
        """See `Format.weights`."""
        from stethoscope.models.weights.constant_weights import of_onnx

        return of_onnx(file)

    def size_bytes(self, file: ModelFile) -> int:
        """See `Format.size_bytes`."""
        size = super().size_bytes(file)
        if not archive.is_archive(file.path):
            size += sum((file.path.parent / name).stat().st_size for name in read_model(file).external)
        return size

    def ends(self, file: ModelFile) -> Ends:
        """See `Format.ends`.

        Raises:
            UnreadableFile: as `describe`.
        """
        return onnx_quantised.ends(read_model(file).parsed(file.name).graph)

    def loads_plainly(self, file: ModelFile) -> bool:
        """See `Format.loads_plainly`: what lies in an archive or beside the file is put in place by its runner."""
        return not archive.is_archive(file.path) and not read_model(file).external

    def as_keras_lies(self, values: npt.NDArray[Any], layer: Layer) -> npt.NDArray[Any]:
        """See `Format.as_keras_lies`.

        Source: ONNX's operators Gemm, Conv, ConvTranspose, LSTM (gates i, o, f, c), GRU.
        """
        kind = layer.type.lower()
        if kind in _GATES and values.ndim == 3 and values.shape[0] == 1:
            order = list(_GATES[kind])
            gates = values[0].reshape(len(order), -1, values.shape[-1])
            sorted_gates: npt.NDArray[Any] = gates[order].reshape(-1, values.shape[-1])
            return sorted_gates.T
        if kind == "gemm" and values.ndim == 2 and layer.config.get("transB"):
            return values.T
        if kind not in ("conv", "convtranspose") or values.ndim < 3:
            return values
        moved = values.transpose(*range(2, values.ndim), 1, 0)
        one_by_one = values.shape[1] == 1 and values.shape[0] > 1 and int(layer.config.get("group") or 1) > 1
        return moved.swapaxes(-1, -2) if one_by_one else moved


_GATES = {"lstm": (0, 2, 3, 1), "gru": (0, 1, 2), "rnn": (0,)}
"""Places of the gates of Keras among those of an operator."""


def graph_inputs(graph: onnx.GraphProto) -> tuple[TensorSpec, ...]:
    """Returns what must be fed: graph inputs that have no initializer (before IR 4, every initializer is listed there too)."""
    stored = {tensor.name for tensor in graph.initializer} | {sparse.values.name for sparse in graph.sparse_initializer}
    return tuple(onnx_shapes.spec(value) for value in graph.input if value.name not in stored)


def _looks_like_model(view: memoryview) -> bool:
    seen: set[int] = set()
    position = 0
    try:
        for part in wire.fields(view):
            position = part.end
            if (
                part.kind != (wire.VARINT if part.number in _VARINTS else wire.BYTES)
                or part.number not in _VARINTS | _MESSAGES
            ):
                return False
            if part.number == 1 and not 0 <= part.value <= _NEWEST_IR:
                return False
            if part.number == 7 and not _starts_like_graph(view, part.start, part.end):
                return False
            seen.add(part.number)
            if len(seen) > _SNIFFED_FIELDS:
                break
    except wire.Malformed:
        # A truncated upload is still an ONNX file, and `describe` can say how much of it is missing.
        return 1 in seen and position < len(view) and _is_cut_graph(view, position)
    return 7 in seen and (1 in seen or 8 in seen)


def _is_cut_graph(view: memoryview, position: int) -> bool:
    try:
        tag, start = wire.varint(view, position, len(view))
        length, start = wire.varint(view, start, len(view))
    except wire.Malformed:
        return False
    return tag == 7 << 3 | wire.BYTES and start + length > len(view) and _starts_like_graph(view, start, len(view))


def _starts_like_graph(view: memoryview, start: int, end: int) -> bool:
    """Whether the first field is one of a GraphProto's; an empty graph passes."""
    try:
        tag, _ = wire.varint(view, start, end) if end > start else (1 << 3 | wire.BYTES, start)
    except wire.Malformed:
        return False
    return tag & 7 == wire.BYTES and tag >> 3 in {1, 2, 5, 10, 11, 12, 13, 14, 15, 16}


def _version(model: onnx.ModelProto) -> str:
    opsets = [
        f"opset {item.version}" if item.domain in ("", "ai.onnx") else f"{item.domain} {item.version}"
        for item in model.opset_import
    ]
    producer = f"{model.producer_name} {model.producer_version}".strip()
    version = ", ".join([f"ONNX IR {model.ir_version}", *opsets[:8]])
    return f"{version} ({producer[:80]})" if producer else version


def _warnings(model: onnx.ModelProto, reading: Reading) -> list[str]:
    found = []
    made = onnx_layers.generated_weights(model.graph)
    if made:
        found.append(
            f"{made} of its weights are made by ConstantOfShape when it runs: the trained values are not in this file."
        )
    for name in onnx_shapes.endless_loops(model)[:3]:
        found.append(f"Loop {name[:80]!r} goes on practically forever: a run ends at its time limit.")
    if model.training_info:
        found.append("It also holds training graphs (training_info), which are not shown.")
    if model.graph.sparse_initializer:
        found.append("Some weights are stored sparse; parameters count their dense elements.")
    if reading.external:
        found.append("Its weights lie in separate data files.")
    return found


FORMAT = Onnx()
