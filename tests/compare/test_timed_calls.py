"""Models called as a program of one's own does: the same answers as through their runners."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest

from sample_models import BUILT
from stethoscope.compare import timed_calls
from stethoscope.models.formats import all_formats, detect
from stethoscope.types import ModelFile
from tests.small_models import tiny_onnx


@pytest.mark.parametrize("name", ["digits_cnn.onnx", "digits_cnn.tflite"])
@pytest.mark.parametrize("rows", [1, 5])
def test_the_answer_is_that_of_the_runner(name, rows, tmp_path):
    file = ModelFile.at(BUILT / name)
    kind = detect(file)
    x = np.random.default_rng(0).random((rows, 8, 8, 1), np.float32)
    with kind.open(file, tmp_path) as runner:
        feed = {runner.inputs[0].name: x}
        expected = next(iter(runner.predict(feed).values()))
        load = timed_calls.loader(kind, file, runner.inputs)
    plain = load()
    call = plain.ready(feed)
    for _ in range(2):
        (found,) = call()
        np.testing.assert_allclose(found, expected, atol=1e-6)
    plain.close()


def test_one_interpreter_takes_one_batch_size_after_the_other():
    file = ModelFile.at(BUILT / "digits_cnn.tflite")
    kind = detect(file)
    inputs = kind.describe(file).inputs
    plain = timed_calls.loader(kind, file, inputs)()
    for rows in (1, 8, 1):
        (found,) = plain.ready({inputs[0].name: np.zeros((rows, 8, 8, 1), np.float32)})()
        assert len(found) == rows


def test_a_keras_model_is_called_through_a_function_of_its_own(tmp_path):
    pytest.importorskip("keras")
    file = ModelFile.at(BUILT / "digits_cnn.keras")
    with detect(file).open(file, tmp_path) as runner:
        feed = {runner.inputs[0].name: np.random.default_rng(0).random((3, 8, 8, 1), np.float32)}
        (found,) = timed_calls.traced(runner)(feed)()
        np.testing.assert_allclose(found, next(iter(runner.predict(feed).values())), atol=1e-6)


def test_what_only_a_runner_can_call_is_left_to_it(tmp_path):
    path = tiny_onnx(tmp_path / "tiny.onnx")
    with zipfile.ZipFile(tmp_path / "tiny.zip", "w") as packed:
        packed.write(path, "tiny.onnx")
    for name, expected in (("tiny.onnx", True), ("tiny.zip", False)):
        file = ModelFile.at(tmp_path / name)
        kind = detect(file)
        assert (timed_calls.loader(kind, file, kind.describe(file).inputs) is not None) == expected
    file = ModelFile.at(BUILT / "digits_cnn.keras")
    assert timed_calls.loader(all_formats()["keras"], file, detect(file).describe(file).inputs) is None


def test_a_runtime_says_its_name_and_version():
    assert timed_calls.start("onnxruntime").startswith("ONNX Runtime 1.")
    assert timed_calls.start("litert").startswith("LiteRT ")
    assert timed_calls.device("onnxruntime") == "CPU"
    assert timed_calls.cores() >= 1
