"""Runs an ONNX model with onnxruntime. Imported only in a worker."""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from stethoscope import devices, framework_errors
from stethoscope.errors import BadInput, CannotRun
from stethoscope.models.capabilities import MainGraphOnly
from stethoscope.models.containers import archive, wire
from stethoscope.models.formats import feed as feeds
from stethoscope.models.formats.onnx import graph_inputs
from stethoscope.models.formats.onnx_model import onnx_layers, onnx_shapes
from stethoscope.models.formats.onnx_model.onnx_reader import only_model, read_model
from stethoscope.types import Feed, ModelFile

_QUIET = 3


class OnnxRunner(MainGraphOnly):
    """One opened ONNX model."""

    def __init__(self, file: ModelFile, scratch: Path) -> None:
        """Checks the file once more, unpacks it when it is an archive, and loads it.

        Raises:
            CannotRun: onnxruntime lacks an operator, opset or IR version.
        """
        reading = read_model(file)
        model = reading.parsed(file.name)
        reason = onnx_shapes.why_not(model, reading.without_data)
        if reason:
            raise CannotRun(f"{file.name}: {reason}")
        self._file = file
        self._scratch = scratch
        self._observed: dict[str, list[tuple[int, str]]] = observable(model.graph)
        self._path = _unpacked(file, reading.external, scratch)
        self.inputs = graph_inputs(model.graph)
        self.outputs = tuple(onnx_shapes.spec(value) for value in model.graph.output)
        self._session = self._load(self._path, optimise=True)
        self._watching: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._session = self._watching = None

    def predict(self, feed: Feed, *, training: bool = False) -> Feed:
        """Runs the model once; see `Runner.predict`.

        A sequence of tensors comes back as "name#0", "name#1", …; a sequence of maps (classifier probabilities) as one
        row per map, columns in the order of the sorted keys.
        """
        if training:
            raise CannotRun(f"{self._file.name}: an ONNX model has no training mode. Test the model it came from.")
        values = self._values(feed)
        names = [spec.name for spec in self.outputs]
        return dict(_arrays(names, self._run(self._session, names, values)))

    def activations(self, feed: Feed, layers: Sequence[str] | None = None) -> Feed:
        """Returns each node's outputs ("path", "path#1", …); those inside bodies and functions cannot be seen.

        Graph optimisations are off for this run, so values may differ from `predict` in the last bits.
        """
        unknown = [name for name in layers or () if name not in self._observed]
        if unknown:
            raise BadInput(
                f"Layer {unknown[0]!r} of {self._file.name}: expected a node of its main graph. See the layer table."
            )
        values = self._values(feed)
        if self._watching is None:
            self._watching = self._load(self._with_outputs(), optimise=False)
        tensors = {output.name for output in self._watching.get_outputs() if output.type.startswith("tensor(")}
        wanted = {
            f"{path}#{number}" if number else path: name
            for path, outputs in self._observed.items()
            if layers is None or path in layers
            for number, name in outputs
            if name in tensors
        }
        # An empty list of names would mean all of them.
        found = self._run(self._watching, list(wanted.values()), values) if wanted else []
        return {path: value for path, value in zip(wanted, found, strict=True) if isinstance(value, np.ndarray)}

    def main_paths(self) -> frozenset[str]:
        """Paths of the nodes whose outputs can be read: those of the main graph."""
        return frozenset(self._observed)

    def _with_outputs(self) -> Path:
        """Writes a copy whose graph also returns every intermediate value.

        A protobuf message that occurs twice is merged, so the extra outputs are simply appended to the file.
        """
        known = {spec.name for spec in self.outputs}
        names = dict.fromkeys(name for outputs in self._observed.values() for _, name in outputs if name not in known)
        extra = b"".join(wire.encode_bytes(12, wire.encode_bytes(1, name.encode())) for name in names)
        target = (
            self._path.with_name(f"{self._path.stem}.watched.onnx")
            if self._path != self._file.path
            else self._scratch / "watched.onnx"
        )
        shutil.copyfile(self._path, target)
        with target.open("ab") as out:
            out.write(wire.encode_bytes(7, extra))
        return target

    def _load(self, path: Path, *, optimise: bool) -> Any:
        import onnxruntime as ort

        ort.disable_telemetry_events()
        options = ort.SessionOptions()
        options.intra_op_num_threads = devices.chosen()
        options.inter_op_num_threads = 1
        options.log_severity_level = _QUIET
        # The arena grows in powers of two and keeps what it took: without it, memory is what the model needs.
        options.enable_cpu_mem_arena = False
        options.enable_mem_pattern = False
        options.graph_optimization_level = (
            ort.GraphOptimizationLevel.ORT_ENABLE_ALL if optimise else ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        )
        with self._explained(f"onnxruntime {ort.__version__} cannot load it"):
            return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def _values(self, feed: Feed) -> dict[str, Any]:
        strange = [spec for spec in self.inputs if "(" in spec.dtype]
        if strange:
            raise CannotRun(
                f"Input {strange[0].name!r} of {self._file.name}: is a {strange[0].dtype}, which an array cannot hold."
            )
        return {name: _as_fed(array) for name, array in feeds.checked(feed, self.inputs, self._file.name).items()}

    def _run(self, session: Any, names: list[str], values: dict[str, Any]) -> list[Any]:
        with self._explained("onnxruntime failed while running it"):
            found: list[Any] = session.run(names, values)
        return found

    @contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        try:
            yield
        except _errors() as error:
            if framework_errors.mentions(str(error)):
                raise
            raise CannotRun(f"{self._file.name}: {what}: {_sentence(str(error))}") from error


def observable(graph: Any) -> dict[str, list[tuple[int, str]]]:
    """Returns (output number, value name) of each node of the main graph, by its layer path."""
    reader = onnx_layers.LayerReader({})
    found: dict[str, list[tuple[int, str]]] = {}
    for position, path in reader.main_paths(graph).items():
        outputs = [name for name in graph.node[position].output if name]
        found[path] = list(enumerate(outputs))
    return found


def _unpacked(file: ModelFile, external: Collection[str], scratch: Path) -> Path:
    """Where the model lies with its data beside it; onnxruntime follows no links out of that folder."""
    folder = scratch / "model"
    if not archive.is_archive(file.path):
        if not external:
            return file.path
        for name in external:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file.path.parent / name, folder / name)
        return Path(shutil.copyfile(file.path, folder / "model.onnx"))
    with archive.open_archive(file) as contents:
        name = only_model(file, contents.names)
        contents.extract(folder)
    return folder / name


def _as_fed(array: npt.NDArray[Any]) -> Any:
    import onnxruntime as ort

    if array.dtype.kind in "OSU":
        texts = [
            text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
            for text in array.reshape(-1).tolist()
        ]
        return np.array(texts, dtype=object).reshape(array.shape)
    if array.dtype.name == "bfloat16":
        return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(np.asarray(array, order="C").view(np.uint16), 16)
    return np.asarray(array, order="C")


def _arrays(names: list[str], values: list[Any]) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    for name, value in zip(names, values, strict=True):
        if isinstance(value, np.ndarray):
            yield name, value
        elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            keys = sorted({key for item in value for key in item})
            yield name, np.array([[item.get(key, np.nan) for key in keys] for item in value])
        elif isinstance(value, list):
            for number, item in enumerate(value):
                yield f"{name}#{number}", np.asarray(item)
        elif value is not None:
            yield name, np.asarray(value)


def _errors() -> tuple[type[Exception], ...]:
    """onnxruntime's own exceptions, which derive from Exception alone."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    own = (kind for kind in vars(state).values() if isinstance(kind, type) and issubclass(kind, Exception))
    return (RuntimeError, ValueError, *own)


def _sentence(text: str) -> str:
    newer = re.search(r"Unsupported model IR version: (\d+), max supported IR version: (\d+)", text)
    if newer:
        return f"it has IR version {newer[1]}, the installed runtime reads up to {newer[2]}. Export it with an older IR version."
    missing = re.search(r"Could not find an implementation for (\w+)\((\d+)\)", text)
    if missing:
        return f"it has no CPU implementation of operator {missing[1]} (opset {missing[2]}) for these types."
    opset = re.search(r"Opset (\d+) is under development.*?till opset (\d+)", text, re.DOTALL)
    if opset:
        return f"it needs opset {opset[1]}, the installed runtime has up to {opset[2]}. Export it with an older opset."
    unknown = re.search(r"(\S+)\(-?\d+\) is not a registered function/op", text)
    if unknown:
        return f"operator {unknown[1]} does not exist in the opset it names."
    absent = re.search(r"No Op registered for (\S+) with domain_version of (\d+)", text)
    if absent:
        return f"operator {absent[1]} does not exist in opset {absent[2]}."
    if "Missing opset in the model" in text:
        return "it does not say which opset it uses. Export it again."
    locale = re.search(r"Failed to construct locale with name:(\S+?):", text)
    if locale:
        return f"a StringNormalizer needs the locale {locale[1]}, which this machine does not have."
    plain = re.sub(r"^\[ONNXRuntimeError\] : \d+ : \w+ : ", "", text.strip())
    plain = plain.split("Status Message: ")[-1].removeprefix("Exception during initialization: ")
    # Source locations and C++ signatures: "/onnxruntime_src/…/common.h:31 int64_t onnxruntime::f(int64_t) The message".
    plain = re.sub(r"/\S+:\d+ [^()\n]*\([^()\n]*\)(?:::<lambda\(\)>)?(?: const)?(?: \[with [^\]\n]*\])? ", "", plain)
    plain = re.sub(r"\[ONNXRuntimeError\] : \d+ : \w+ : ", "", plain)
    condition, failed, explained = plain.partition(" was false. ")
    plain = explained if failed else condition
    plain = re.sub(r"Load model from .*? failed:\s*", "", plain)
    return " ".join(plain.split())[:400].rstrip(".") + "."
