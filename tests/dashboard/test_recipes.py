"""Code to copy: it is valid, it holds names as literals only, and it does what the run did."""

from __future__ import annotations

import ast
import os
import shlex
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from dashboard import recipe_inputs, recipes
from sample_models import BUILT
from stethoscope.codec import answer_of
from stethoscope.data.dummy import dummy_feed
from stethoscope.memory.prediction import Prediction
from stethoscope.models.formats import detect
from stethoscope.types import Architecture, ModelFile, TensorSpec
from tests.plain_process import KEPT
from tests.small_models import tiny_onnx
from tests.tasks.test_samples import submit

SETTINGS = {"samples": 5, "batch_size": 2, "seed": 7, "settings": {"call": "predict", "allocator": "pool"}}
HOSTILE = "a'); import os; os.system('x') #\n.keras"
KINDS = ["keras", "keras_h5", "tflite", "onnx", "saved_model", "frozen_graph"]


def architecture(kind: str, name: str = "x") -> Architecture:
    spec = TensorSpec(name, (None, 4), "float32")
    return Architecture(kind, "Keras 3.15.1", 16, 16, (spec,), (TensorSpec("y", (None, 4), "float32"),), ())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("data", [None, HOSTILE])
def test_names_are_literals_and_nothing_else(kind, data):
    tree = ast.parse(recipes.predict_code(HOSTILE, architecture(kind, HOSTILE), SETTINGS, data))
    imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    assert "os" not in imported


MEASURED = (
    KEPT
    + """
import sys, tensorflow, keras
before = kept("RssAnon")
exec(compile(sys.stdin.read(), "program", "exec"), {})
print(kept("VmHWM") - kept("RssFile") - before)
"""
)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="what a process holds is read from /proc")
@pytest.mark.parametrize("call", ["predict", pytest.param("function", marks=pytest.mark.sweep)])
def test_the_program_takes_as_much_memory_as_the_page_says(engine, call):
    file = ModelFile.at(BUILT / "memory_hungry.keras")
    own = {"batch_size": 8, "call": call, "allocator": "pool"}
    params = {"batch_size": 8, "samples": 8, "seed": 0, "settings": own}
    result = submit(engine, "predict", "memory_hungry", 4 << 30, **params)
    said = answer_of(result, Prediction)
    program = recipes.predict_code(str(file.path), detect(file).describe(file), params, None, said.input)
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    words = [sys.executable, "-c", MEASURED]
    done = subprocess.run(words, input=program, env=environment, capture_output=True, text=True, check=True)
    taken = int(done.stdout.split()[-1])
    assert taken > 100 << 20
    assert said.measured_peak_bytes == pytest.approx(taken, rel=0.15)
    assert said.predicted_peak_bytes == pytest.approx(taken, rel=0.15)


def test_the_onnx_code_runs_and_gives_every_sample(tmp_path, monkeypatch):
    tiny_onnx(tmp_path / "model.onnx")
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(recipes.predict_code("model.onnx", architecture("onnx"), SETTINGS, None), names)
    outputs = np.concatenate([batch[0] for batch in names["results"]])
    assert outputs.shape == (5, 4)
    np.testing.assert_allclose(outputs, 2 * names["inputs"]["x"], rtol=1e-6)


@pytest.mark.parametrize(
    "dtype", ["float32", "float16", "float64", "int32", "int64", "int8", "uint8", "bool", "string"]
)
def test_the_random_input_is_the_one_the_worker_made(dtype):
    specs = tuple(
        TensorSpec(name, shape, dtype) for name, shape in [("a", (None, None)), ("b", (None, 3)), ("mask", (2,))]
    )
    model = Architecture("onnx", "", 0, None, specs, (), ())
    settings = {**SETTINGS, "dynamic_size": 16}
    names: dict = {"np": np}
    exec("\n".join(recipe_inputs.lines(model, settings, None, {})), names)
    for name, array in dummy_feed(model, specs, 5, 7).items():
        np.testing.assert_array_equal(names["inputs"][name], array)
        assert names["inputs"][name].dtype == array.dtype


def test_keras_2_files_are_opened_by_tf_keras():
    old = Architecture("keras_h5", "Keras 2.4.0", 1, 1, architecture("keras").inputs, (), ())
    assert "import tf_keras as keras" in recipes.predict_code("m.h5", old, SETTINGS, None)
    assert "tf_keras" not in recipes.predict_code("m.keras", architecture("keras"), SETTINGS, None)


def test_a_command_line_survives_the_shell():
    line = recipes.command_line("predict", HOSTILE, {"batch-size": 8, "data": None})
    assert shlex.split(line) == ["stethoscope", "predict", HOSTILE, "--batch-size", "8"]
    assert shlex.split(recipes.command_line("predict", "--json", {}))[2] == "./--json"


def test_the_code_and_consent_of_the_model_in_view_stand_behind_all_files(monkeypatch):
    entry = SimpleNamespace(code=ModelFile.at("my layers.py"), trusted=True)
    monkeypatch.setattr(recipes.session, "current", lambda: SimpleNamespace(entry=entry))
    said = shlex.split(recipes.command_line("compare", "a.keras", {"rows": 4}, "-b.keras"))
    assert said == [
        "stethoscope",
        "compare",
        "a.keras",
        "./-b.keras",
        "--rows",
        "4",
        "--code",
        "my layers.py",
        "--trust",
    ]
    without = recipes.command_line("drift", "a.csv", {"code": None, "trust": None}, "b.csv")
    assert without == "stethoscope drift a.csv b.csv", "what the options say of it holds"
