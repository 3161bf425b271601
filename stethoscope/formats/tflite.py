"""TensorFlow Lite (LiteRT) flatbuffers."""

from __future__ import annotations

from pathlib import Path

from stethoscope.containers import wire
from stethoscope.containers.flatbuffer import Buffer, Malformed
from stethoscope.errors import UnreadableFile
from stethoscope.formats.tflite_model import tflite_hazards, tflite_layers
from stethoscope.formats.tflite_model.tflite_reader import IDENTIFIER, Model, read_model
from stethoscope.types import Architecture, ModelFile, Runner, WorkerKind


class TFLite:
    """`.tflite` files: schema 3, with or without the file identifier (2017 files lack it)."""

    id = "tflite"
    title = "TensorFlow Lite model (.tflite)"
    extensions: tuple[str, ...] = (".tflite", ".lite")
    worker: WorkerKind = "light"
    is_program = False

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
            hazards=tuple(tflite_hazards.hazards(model)),
            weight_bytes=tflite_layers.weight_bytes(model),
            display_format="TensorFlow Lite",
            runnable=tflite_hazards.why_not(model),
        )

    def skeleton(self, file: ModelFile) -> tuple[str, bytes]:
        """Returns the same flatbuffer with each weight's bytes replaced by one; shapes and types stay."""
        from stethoscope.formats.tflite_model.tflite_skeleton import without_weights

        return f"{Path(file.name).stem}.tflite", without_weights(file, load(file))

    def open(self, file: ModelFile, scratch: Path, *, trusted: bool = False) -> Runner:
        """Opens it with LiteRT on the CPU.

        Raises:
            CannotRun: an operator that LiteRT does not have; says which.
        """
        from stethoscope.formats.tflite_model.tflite_runner import LiteRTRunner

        return LiteRTRunner(file, load(file))


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
