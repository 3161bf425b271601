"""Models beside each other: whether they say the same, and how long they take."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from sample_models import BUILT
from tests.small_models import tiny_onnx

OUTPUT_KEYS = {"a", "b", "max_abs_diff", "mean_abs_diff", "cosine"}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return tiny_onnx(tmp_path / "tiny.onnx")


@pytest.fixture
def scaled(model: Path, tmp_path: Path) -> Path:
    graph = onnx.load(model)
    for tensor in graph.graph.initializer:
        if tensor.data_type == onnx.TensorProto.FLOAT:
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor) * 1.5, tensor.name))
    onnx.save(graph, tmp_path / "scaled.onnx")
    return tmp_path / "scaled.onnx"


def test_a_model_equals_itself(commands, model):
    value = commands.answer("compare", model, model)
    assert value["verdict"] == "equal"
    assert value["first_divergence"] is None
    (output,) = value["outputs"]
    assert output.keys() >= OUTPUT_KEYS
    assert output["max_abs_diff"] == 0


def test_another_model_is_different_and_the_layer_is_named(commands, model, scaled, tmp_path):
    np.savez(tmp_path / "rows.npz", x=np.arange(1, 41, dtype=np.float32).reshape(10, 4))
    done = commands.run("compare", model, scaled, "--data", tmp_path / "rows.npz", "--json")
    assert done.returncode == 1
    value = json.loads(done.stdout)
    assert value["verdict"] == "different"
    found = value["first_divergence"]
    assert found.keys() >= {"a", "b", "cause", "confidence"}
    assert found["a"] == "project"
    assert found["cause_id"] in ("scaled-weights", "scale")
    said = commands.run("compare", model, scaled, "--data", tmp_path / "rows.npz").stdout
    assert "they part at" in said
    assert "project" in said


@pytest.mark.parametrize(
    "other", ["digits_cnn.onnx", "digits_cnn.tflite", "digits_cnn_int8.tflite", "digits_cnn_frozen.pb"]
)
def test_the_forms_of_a_sample_agree(commands, other):
    data = BUILT / "digits_sample.npz"
    value = commands.answer("compare", BUILT / "digits_cnn.keras", BUILT / other, "--data", data)
    assert value["verdict"] in ("equal", "within_tolerance")
    assert value["top1_agreement"] == 1.0
    assert value["labels"]["metric"] == "accuracy"


def test_what_cannot_be_compared_is_a_sentence_on_standard_error(commands, model):
    done = commands.run("compare", model, BUILT / "digits_cnn.keras", "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["verdict"] is None
    assert "tiny.onnx" in done.stderr
    assert "(None, 8, 8, 1)" in done.stderr
    missing = commands.run("compare", model, "nowhere.onnx")
    assert missing.returncode == 2
    assert "nowhere.onnx" in missing.stderr


@pytest.mark.usefixtures("live_engine")
def test_several_models_and_ways_are_compared_with_one_recording(commands, model, scaled):
    done = commands.run("compare", model, model, scaled, "--way", "threads=1", "--json")
    assert done.returncode == 1, "one of them differs"
    value = json.loads(done.stdout)
    assert value["verdict"] == "different"
    found = {one["with"]: one for one in value["comparisons"]}
    assert [one["verdict"] for one in found.values()] == ["equal", "different", "equal"]
    assert found["tiny.onnx, 1 thread"]["ways"]["b"]["settings"]["intra_threads"] == 1
    assert len({one["time_s"]["a"] for one in found.values()}) == 1, "the first model ran once"
    edges = {one["case"]: one for one in found["tiny.onnx, 1 thread"]["edges"]}
    assert edges["all zeros"]["within"]
    assert not [one for one in found["scaled.onnx"]["edges"] if one["case"] == "all ones" and one["within"]]
    said = commands.run("compare", model, model, "--way", "threads=1").stdout
    assert "tiny.onnx, 1 thread" in said


def test_one_model_alone_needs_a_way(commands, model):
    done = commands.run("compare", model, "--json")
    assert done.returncode == 2
    assert "--way" in done.stderr
    refused = commands.run("compare", model, "--way", "call=predict", "--json")
    assert refused.returncode == 2
    assert "ONNX" in refused.stderr


QUICK = ("--seconds", "0.03", "--batch-sizes", "1,4")
ROW_KEYS = {
    "model",
    "role",
    "format",
    "runtime",
    "call",
    "device",
    "threads",
    "batch_size",
    "calls",
    "first_call_s",
    "p50_s",
    "p90_s",
    "p99_s",
    "mean_s",
    "rows_per_s",
    "reason",
}
MODEL_KEYS = {"role", "name", "size_bytes", "parameters", "load_s", "peak_bytes", "reason"}


@pytest.fixture
def timed_model(tmp_path):
    return tiny_onnx(tmp_path / "tiny.onnx")


def test_the_answer_has_the_keys_of_the_contract(commands):
    value = commands.answer("latency", BUILT / "digits_cnn.onnx", BUILT / "digits_cnn.tflite", "--threads", "1", *QUICK)
    assert value["schema_version"]
    assert value["status"] == "ok"
    assert value.keys() >= {"rows", "models", "threads", "cores", "device", "source", "notes"}
    assert len(value["rows"]) == 4
    assert all(row.keys() >= ROW_KEYS and row["threads"] == 1 for row in value["rows"])
    assert all(one.keys() >= MODEL_KEYS for one in value["models"])


def test_people_get_a_table_for_each_batch_size(commands, timed_model, monkeypatch):
    monkeypatch.setenv(
        "COLUMNS", "160"
    )  # in 80, a name is folded beside times of many digits, which a busy machine takes
    said = commands.run("latency", timed_model, BUILT / "digits_cnn.keras", "--calls", "function,call", *QUICK).stdout
    assert "1 row a call" in said
    assert "4 rows a call" in said
    assert "digits_cnn.keras, call" in said
    assert "TensorFlow" in said
    assert "against the first" in " ".join(said.split())


def test_one_model_alone_is_timed(commands, timed_model):
    value = commands.answer("latency", timed_model, *QUICK)
    assert [row["batch_size"] for row in value["rows"]] == [1, 4]
    assert all(row["p50_s"] > 0 for row in value["rows"])


def test_a_model_that_cannot_be_run_is_a_row_and_the_rest_is_timed(commands, timed_model):
    done = commands.run("latency", timed_model, BUILT / "lambda_layer.keras", *QUICK, "--json")
    assert done.returncode == 0
    rows = json.loads(done.stdout)["rows"]
    assert all(row["p50_s"] is None and "Lambda" in row["reason"] for row in rows if row["role"] == "other-1")
    assert all(row["p50_s"] for row in rows if row["role"] == "model")
    assert "no time" in commands.run("latency", timed_model, BUILT / "lambda_layer.keras", *QUICK).stdout


def test_what_cannot_be_timed_ends_with_a_sentence(commands, tmp_path):
    missing = commands.run("latency", tmp_path / "nowhere.onnx")
    assert missing.returncode == 2
    assert "nowhere.onnx" in missing.stderr
    alone = commands.run("latency", BUILT / "lambda_layer.keras", *QUICK, "--json")
    assert alone.returncode == 3 if json.loads(alone.stdout)["status"] == "refused" else 2
    assert "Lambda" in alone.stderr
    wrong = commands.run("latency", BUILT / "digits_cnn.onnx", "--batch-sizes", "one")
    assert wrong.returncode == 2
    assert "--batch-sizes" in wrong.stderr
