"""One file adds a format: a bundle with a TFLite file in it, known to nobody else, is taken by every task as the file in it is."""

from __future__ import annotations

import functools
import json
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from stethoscope.codec import plain
from stethoscope.errors import StethoscopeError
from stethoscope.jobs.worker.child import open_model
from stethoscope.models import formats
from stethoscope.models.formats.tflite import TFLite
from stethoscope.models.formats.tflite_model.tflite_runner import LiteRTRunner
from stethoscope.models.model_format import Ends, WeightsByLayer
from stethoscope.task import TaskContext
from stethoscope.tasks import all_tasks
from stethoscope.types import Architecture, Budget, Job, ModelFile, Runner
from tests.answers import BUILT

PLAIN = BUILT / "digits_cnn_int8.tflite"
DATA = BUILT / "digits_sample.npz"


class Bundle(TFLite):
    """A zip around a TFLite file, as MediaPipe has them (.task)."""

    id = "task_bundle"
    title = "Bundle of a TensorFlow Lite model (.task)"
    extensions = (".task",)
    hint = ".task"

    def sniff(self, file: ModelFile) -> bool:
        if not zipfile.is_zipfile(file.path):
            return False
        with zipfile.ZipFile(file.path) as held:
            return [Path(name).suffix for name in held.namelist()] == [".tflite"]

    def plain_file(self, file: ModelFile, folder: Path) -> ModelFile:
        with zipfile.ZipFile(file.path) as held:
            return ModelFile(Path(held.extract(held.namelist()[0], folder)), file.name)

    def describe(self, file: ModelFile) -> Architecture:
        with self._taken_out(file) as plain:
            return super().describe(plain)

    def skeleton(self, file: ModelFile) -> tuple[str, bytes]:
        with self._taken_out(file) as plain:
            return super().skeleton(plain)

    def ends(self, file: ModelFile) -> Ends:
        with self._taken_out(file) as plain:
            return super().ends(plain)

    def weights(self, file: ModelFile) -> Any:
        return self._weights(file)

    @contextmanager
    def _weights(self, file: ModelFile) -> Iterator[WeightsByLayer]:
        with self._taken_out(file) as plain, super().weights(plain) as found:
            yield found

    def loads_plainly(self, file: ModelFile) -> bool:
        return False

    def open(self, file: ModelFile, scratch: Path, *, trusted: bool = False) -> Runner:
        plain = self.plain_file(file, scratch)
        return LiteRTRunner(plain, formats.tflite.load(plain))

    @contextmanager
    def _taken_out(self, file: ModelFile) -> Iterator[ModelFile]:
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            yield self.plain_file(file, Path(folder))


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    with_it = {**formats.all_formats(), Bundle.id: Bundle()}
    monkeypatch.setattr(formats, "all_formats", functools.cache(lambda: with_it))


@pytest.fixture(scope="module")
def bundle(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("bundle") / "digits_cnn_int8.task"
    with zipfile.ZipFile(path, "w") as held:
        held.write(PLAIN, PLAIN.name)
    return path


class Meter:
    """Measures nothing."""

    def watch(self) -> None: ...

    def rest(self) -> None: ...

    def reset(self) -> None: ...

    def enforce(self) -> None: ...

    def peak_bytes(self) -> int:
        return 0

    def added_bytes(self) -> int:
        return 0


def answered(kind: str, model: Path, folder: Path, params: Mapping[str, Any], **files: Path) -> tuple[str, Any]:
    """What a task says of a model: ("ok", its answer) or (the error's name, its sentence)."""
    folder.mkdir()
    given = {role: ModelFile.at(path) for role, path in {"model": model, **files}.items()}
    job = Job(kind, given, dict(params), Budget(4 << 30, 300), "light")

    def report(phase: str, fraction: float | None = None, message: str = "") -> None: ...

    context: TaskContext = TaskContext(
        given, job.params, folder, job.budget, report, Meter(), lambda role="model": open_model(job, context, role)
    )
    try:
        return "ok", json.loads(json.dumps(plain(all_tasks()[kind].run(context))))
    except StethoscopeError as error:
        return type(error).__name__, str(error)


OF_THE_FILE = frozenset({"format_id", "size_bytes", "source_size_bytes", "estimated_peak_bytes"})
"""Keys of what is of the file as it lies there."""


def comparable(value: Any) -> Any:
    """An answer without times, and with one name for both files."""
    if isinstance(value, dict):
        kept = {key: item for key, item in value.items() if key not in OF_THE_FILE and not key.endswith("_s")}
        return {key: comparable(item) for key, item in kept.items()}
    if isinstance(value, list):
        return [comparable(item) for item in value]
    return value.replace(".task", ".tflite") if isinstance(value, str) else value


JOBS: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Path]]] = {
    "describe": ({"skeleton": True}, {}),
    "predict": ({"batch_size": 4, "samples": 8}, {}),
    "activations": ({"rows": 8}, {"data": DATA}),
    "look": ({"layers": [], "places": [0]}, {"data": DATA}),
    "attribute": ({"method": "occlusion", "places": [0]}, {"data": DATA}),
    "weights_of_layer": ({}, {}),
    "compare_architectures": ({}, {"other": BUILT / "digits_cnn.keras"}),
    "estimate": ({"batch_sizes": [1, 8]}, {}),
    "examine": ({"time_s": 60.0}, {"data": DATA}),
    "fit_data": ({}, {"data": DATA}),
    "compare": ({"rows": 16}, {"other": BUILT / "digits_cnn.onnx", "data": DATA}),
    "convert": ({"target": "onnx"}, {"data": DATA}),
    "label_doubts": ({}, {"data": DATA}),
    "overfit": ({}, {"data": DATA}),
    "train": ({}, {"data": DATA}),
}


@pytest.mark.parametrize("kind", JOBS)
def test_a_bundle_is_answered_as_the_file_in_it(kind, bundle, tmp_path):
    params, files = JOBS[kind]
    if kind in ("weights_of_layer", "look"):
        layers = formats.all_formats()["tflite"].describe(ModelFile.at(PLAIN)).layers
        chosen = next(layer.path for layer in layers if layer.parameters)
        params = {**params, "layer": chosen, "layers": [chosen]}
    status, found = answered(kind, bundle, tmp_path / "bundle", params, **files)
    expected_status, expected = answered(kind, PLAIN, tmp_path / "plain", params, **files)
    assert status == expected_status, found
    assert comparable(found) == comparable(expected)


def test_it_is_timed(bundle, tmp_path):
    status, found = answered("latency", bundle, tmp_path / "job", {"batch_sizes": [1], "seconds": 0.05})
    assert status == "ok", found
    assert found["rows"][0]["runtime"].startswith("LiteRT ")
    assert found["rows"][0]["p50_s"] > 0
