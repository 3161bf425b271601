"""The command line as a program sees it: exit codes, one JSON object on standard output, the contract's keys."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
import typer

from stethoscope.cli.app import app
from tests.small_models import hungry_onnx, tiny_onnx

STETHOSCOPE = Path(sys.executable).with_name("stethoscope")


def run(*arguments: object, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    words = [str(STETHOSCOPE), *(str(argument) for argument in arguments)]
    return subprocess.run(words, capture_output=True, text=True, timeout=timeout, check=False)


def answer(*arguments: object) -> dict:
    done = run(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> Path:
    return tiny_onnx(tmp_path_factory.mktemp("cli") / "tiny.onnx")


def test_describe_prints_one_object_with_the_contract_keys(tiny):
    value = answer("describe", tiny)
    assert value["schema_version"] == 1
    assert value["format_id"] == "onnx"
    assert value["parameters"] == {"total": 16, "trainable": None}
    assert value["inputs"] == [{"name": "x", "shape": [None, 4], "dtype": "float32"}]
    assert value["outputs"] == [{"name": "y", "shape": [None, 4], "dtype": "float32"}]
    assert {"path", "type", "output_shape", "parameters", "dtype"} <= value["layers"][0].keys()
    assert value["compile"] is None
    assert value["size_bytes"] == tiny.stat().st_size


def test_what_runs_a_models_code_takes_the_code_that_is_beside_it():
    whole = typer.main.get_command(app)
    commands = {name: {one.name for one in whole.get_command(None, name).params} for name in whole.list_commands(None)}
    with_trust = {name for name, parameters in commands.items() if "trust" in parameters}
    assert {name for name, parameters in commands.items() if "code" in parameters} == with_trust | {"describe"}
    assert "check" in with_trust


def test_describe_for_people_is_a_table(tiny):
    done = run("describe", tiny)
    assert done.returncode == 0
    assert "16 parameters" in done.stdout
    assert "project" in done.stdout


def test_predict_uses_the_data_and_leaves_the_outputs(tiny, tmp_path):
    x = np.arange(20, dtype=np.float32).reshape(5, 4)
    np.savez(tmp_path / "data.npz", x=x)
    value = answer("predict", tiny, "--data", tmp_path / "data.npz", "--batch-size", 2, "--out", tmp_path / "out")
    assert value["status"] == "ok"
    assert value["settings"]["batch_size"] == 2
    assert value["outputs"]["y"]["shape"] == [5, 4]
    np.testing.assert_array_equal(np.load(value["outputs"]["y"]["path"]), 2 * x)
    assert {"phase", "reason", "peak_rss_bytes", "predicted_peak_bytes", "wall_s"} <= value.keys()


def test_external_data_is_found_beside_the_model(tmp_path):
    weights = np.arange(16, dtype=np.float32).reshape(4, 4)
    model = onnx.load(tiny_onnx(tmp_path / "m.onnx"))
    model.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(weights, "w"))
    onnx.save(model, tmp_path / "m.onnx", save_as_external_data=True, location="m.onnx.data", size_threshold=0)
    np.savez(tmp_path / "data.npz", x=np.eye(4, dtype=np.float32))
    value = answer("predict", tmp_path / "m.onnx", "--data", tmp_path / "data.npz", "--out", tmp_path / "out")
    np.testing.assert_array_equal(np.load(value["outputs"]["y"]["path"]), weights)


def test_running_out_of_memory_is_a_report_with_exit_code_2(tmp_path):
    model = hungry_onnx(tmp_path / "hungry.onnx")
    done = run("predict", model, "--memory-limit", "1GiB", "--batch-size", 64, "--json")
    assert done.returncode == 2
    value = json.loads(done.stdout)
    assert value["status"] == "out_of_memory"
    oom = value["oom"]
    assert oom["largest_batch_estimate"]["low"] >= 1
    assert (oom["mechanism"], oom["phase"], oom["limit_bytes"]) == ("limit", value["phase"], 1 << 30)
    assert 0 < oom["peak_bytes"] <= value["peak_rss_bytes"]  # of the process that ran out, and of all of the job
    assert oom["change"][0]["setting"] == "batch_size"
    assert done.stderr.count("\n") == 1


def test_a_machine_that_runs_out_is_a_report_too(tmp_path, monkeypatch):
    monkeypatch.setenv("STETHOSCOPE_MIN_FREE_MEMORY_BYTES", "1000TiB")
    model = hungry_onnx(tmp_path / "hungry.onnx")
    words = ("predict", model, "--memory-limit", "4GiB", "--batch-size", 16, "--samples", 320)
    done = run(*words, "--json")
    assert done.returncode == 2
    value = json.loads(done.stdout)
    assert (value["status"], value["oom"]["mechanism"]) == ("out_of_memory", "host")
    assert value["oom"]["host"]["available_bytes"] > 0
    assert done.stderr.count("\n") == 1
    printed = run(*words)
    assert printed.returncode == 2
    assert "what to do: " in printed.stdout
    assert printed.stderr.count("\n") == 1


def test_consistency_tells_what_was_tested(tiny):
    value = answer("consistency", tiny, "--runs", 3)
    assert value["consistent"] is True
    assert value["first_difference"] is None
    assert value["runs"] == 3
    assert {test["id"] for test in value["tests"]} >= {"same-input-bitwise", "batch-1-vs-n", "train-vs-inference"}
    assert all({"name", "passed", "detail"} <= test.keys() for test in value["tests"])
    assert all({"id", "group", "max_abs_diff", "layer", "values", "reason"} <= test.keys() for test in value["tests"])


def test_consistency_prints_its_tests_by_group(tiny):
    done = run("consistency", tiny)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "consistent"
    groups = [line for line in lines if line and not line.startswith(" ")]
    assert groups[1:] == ["Determinism", "Batch", "Mode", "Save and reload", "Edge-case inputs"]
    assert any("NaN in one row" in line for line in lines)


def test_doctor_reports_layers_packages_devices_and_workspace():
    value = answer("doctor")
    assert set(value["layers"]) >= {"L0", "L1"}
    assert value["layers"]["L0"]["active"] is True
    assert value["packages"]["tensorflow"]
    assert value["devices"]
    assert value["workspace"]["free_bytes"] > 0


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.keras", b"", "empty"),
        ("page.onnx", b"<html><body>login</body></html>", "HTML"),
        ("cut.keras", b"PK\x03\x04" + bytes(40), "incomplete"),
        ("noise.pb", bytes(range(256)) * 8, "not a TensorFlow graph"),
    ],
)
def test_what_cannot_be_read_says_why_in_one_line(tmp_path, name, content, words):
    path = tmp_path / name
    path.write_bytes(content)
    done = run("describe", path, "--json")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert name in done.stderr
    assert words in done.stderr


def test_a_missing_file_and_a_bad_limit_are_sentences(tiny, tmp_path):
    assert "no such file" in run("describe", tmp_path / "nope.keras").stderr
    done = run("predict", tiny, "--memory-limit", "lots")
    assert done.returncode == 2
    assert "512MB" in done.stderr
    assert "Traceback" not in done.stderr


def test_unsafe_is_exit_code_3(tmp_path):
    import zipfile

    path = tmp_path / "escape.keras"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../config.json", "{}")
    assert run("describe", path).returncode == 3
