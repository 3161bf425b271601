"""`activations` as a program sees it: the contract's keys, and files that hold what they say."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from stethoscope.cli.activations import file_name
from tests.small_models import hungry_onnx, tiny_onnx

KEYS = {"path", "shape", "mean", "std", "min", "max", "zero_fraction", "saturated_fraction", "nonfinite"}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return tiny_onnx(tmp_path / "tiny.onnx")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    np.savez(tmp_path / "rows.npz", x=np.arange(40, dtype=np.float32).reshape(10, 4))
    return tmp_path / "rows.npz"


def test_statistics_and_outputs(commands, model, data, tmp_path):
    out = tmp_path / "out"
    value = commands.answer("activations", model, "--data", data, "--out", out, "--keep", 3, "--batch-size", 4)
    (layer,) = value["layers"]
    assert layer.keys() >= KEYS and layer["shape"] == [10, 4]
    assert (layer["min"], layer["max"], layer["mean"]) == (0.0, 78.0, 39.0)
    np.testing.assert_array_equal(np.load(layer["outputs_file"]), 2 * np.arange(12, dtype=np.float32).reshape(3, 4))
    assert np.load(layer["top_file"])["place"][:, 0].tolist() == [9] * 4
    assert json.loads((out / "statistics.json").read_text())["layers"][0]["mean"] == 39.0
    assert {path.name for path in out.iterdir()} == {
        "statistics.json",
        "0-project.npy",
        "0-project.units.npy",
        "0-project.top.npy",
    }


def test_for_people_and_without_data(commands, model):
    done = commands.run("activations", model, "--rows", 4)
    assert done.returncode == 0 and "project" in done.stdout and "random input" in done.stdout


def test_a_layer_that_is_not_there(commands, model, data):
    done = commands.run("activations", model, "--data", data, "--layers", "nope", "--json")
    assert done.returncode == 2 and "no such layer" in done.stderr
    assert json.loads(done.stdout)["status"] == "failed"


def test_a_shortage_of_memory_is_reported_with_its_tensor(commands, tmp_path):
    hungry = hungry_onnx(tmp_path / "hungry.onnx", 256)
    done = commands.run("activations", hungry, "--rows", 8, "--batch-size", 8, "--memory-limit", "300MiB", "--json")
    value = json.loads(done.stdout)
    assert (done.returncode, value["status"], value["layers"]) == (2, "out_of_memory", [])
    assert value["oom"]["limit_bytes"] == 300 << 20 and value["oom"]["peak_bytes"] > 0


def test_file_names_are_tame():
    assert file_name("../a/b;c:0") == "a_b_c_0"
    assert file_name("…") == "layer" and len(file_name("x" * 500)) == 80
