"""One prediction under chosen settings; what every layer puts out: as JSON, as files and for people."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from sample_models import BUILT
from stethoscope.cli.outputs import file_name
from stethoscope.cli.settings import refusal, run_settings
from stethoscope.errors import BadSetting
from stethoscope.memory.run_settings import RunSettings
from tests.small_models import hungry_onnx, tiny_onnx

KEYS = {"status", "phase", "reason", "peak_rss_bytes", "predicted_peak_bytes", "wall_s", "settings", "outputs"}
PLAIN = {
    "batch_size": 32,
    "call": "function",
    "precision": "as saved",
    "xla": False,
    "device": "auto",
    "intra_threads": None,
    "inter_threads": None,
    "memory_growth": False,
    "gpu_memory_limit": "",
    "logical_devices": "",
    "memory_limit": "",
}


def test_every_setting_at_once(commands, tmp_path):
    value = commands.answer(
        "predict",
        BUILT / "digits_cnn.keras",
        "--call",
        "predict-on-batch",
        "--precision",
        "mixed-bfloat16",
        "--xla",
        "--device",
        "cpu",
        "--intra-threads",
        1,
        "--inter-threads",
        1,
        "--logical-devices",
        2,
        "--batch-size",
        4,
        "--samples",
        8,
        "--memory-limit",
        "1GiB",
        "--out",
        tmp_path,
    )
    assert value.keys() >= KEYS
    expected = {
        "call": "predict_on_batch",
        "precision": "mixed_bfloat16",
        "xla": True,
        "device": "cpu",
        "intra_threads": 1,
        "inter_threads": 1,
        "logical_devices": [0, 0],
        "batch_size": 4,
        "samples": 8,
        "memory_limit_bytes": 1 << 30,
    }
    assert value["settings"] | expected == value["settings"]
    (output,) = value["outputs"].values()
    assert np.load(output["path"]).shape == (8, 10)


def test_a_refusal_is_one_object_and_one_line(commands):
    done = commands.run(
        "predict", BUILT / "digits_cnn.keras", "--memory-growth", "--logical-devices", "1GB,1GB", "--json"
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    value = json.loads(done.stdout)
    assert value.keys() >= KEYS
    assert (value["status"], value["phase"]) == ("refused", "settings")
    assert {item["setting"] for item in value["refusals"]} == {"memory_growth", "logical_devices"}
    assert RunSettings.from_json(value["nearest"]).memory_growth is False


def test_options_become_settings():
    asked = run_settings(**PLAIN | {"device": "gpu:1", "logical_devices": "2GiB,1GiB", "precision": "as-saved"})
    assert (asked.device, asked.gpu_index, asked.logical_devices) == ("gpu", 1, (2 << 30, 1 << 30))
    assert run_settings(**PLAIN) == RunSettings()
    assert run_settings(**PLAIN | {"call": "predict-on-batch"}).call == "predict_on_batch"


@pytest.mark.parametrize("wrong", [{"device": "gpu:x"}, {"call": "eager"}, {"logical_devices": "big"}])
def test_values_that_make_no_sense(wrong):
    with pytest.raises(BadSetting):
        run_settings(**PLAIN | wrong)


def test_plain_settings_need_no_look_at_the_machine():
    assert refusal(Path("m.keras"), RunSettings(batch_size=7, memory_limit_bytes=1)) is None
    assert refusal(Path("m.onnx"), RunSettings(call="predict"))["nearest"]["call"] == "function"


@pytest.mark.parametrize("command", ["predict", "sweep", "latency", "endurance"])
def test_a_card_that_is_not_here_is_refused_with_its_program(commands, command):
    """One sentence on standard error, and the code on standard output, which says so as well where it is run."""
    asked = (command, BUILT / "digits_cnn.keras", "--device", "gpu")
    done = commands.run(*asked)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert "nvidia-smi" in done.stdout
    with pytest.raises(SystemExit, match="0 GPUs"):
        exec(done.stdout, {})
    refused = commands.run(*asked, "--json")
    value = json.loads(refused.stdout)
    assert (value["status"], refused.returncode) == ("refused", 2)
    assert value["code"] in done.stdout


LAYER_KEYS = {"path", "shape", "mean", "std", "min", "max", "zero_fraction", "saturated_fraction", "nonfinite"}


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
    assert layer.keys() >= LAYER_KEYS and layer["shape"] == [10, 4]
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
