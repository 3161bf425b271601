"""`latency` as a program sees it: the keys of its answer, its table for people, and how it ends."""

from __future__ import annotations

import json

import pytest

from sample_models import BUILT
from tests.small_models import tiny_onnx

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
def model(tmp_path):
    return tiny_onnx(tmp_path / "tiny.onnx")


def test_the_answer_has_the_keys_of_the_contract(commands):
    value = commands.answer("latency", BUILT / "digits_cnn.onnx", BUILT / "digits_cnn.tflite", "--threads", "1", *QUICK)
    assert value["schema_version"]
    assert value["status"] == "ok"
    assert value.keys() >= {"rows", "models", "threads", "cores", "device", "source", "notes"}
    assert len(value["rows"]) == 4
    assert all(row.keys() >= ROW_KEYS and row["threads"] == 1 for row in value["rows"])
    assert all(one.keys() >= MODEL_KEYS for one in value["models"])


def test_people_get_a_table_for_each_batch_size(commands, model, monkeypatch):
    monkeypatch.setenv(
        "COLUMNS", "160"
    )  # in 80, a name is folded beside times of many digits, which a busy machine takes
    said = commands.run("latency", model, BUILT / "digits_cnn.keras", "--calls", "function,call", *QUICK).stdout
    assert "1 row a call" in said
    assert "4 rows a call" in said
    assert "digits_cnn.keras, call" in said
    assert "TensorFlow" in said
    assert "against the first" in " ".join(said.split())


def test_one_model_alone_is_timed(commands, model):
    value = commands.answer("latency", model, *QUICK)
    assert [row["batch_size"] for row in value["rows"]] == [1, 4]
    assert all(row["p50_s"] > 0 for row in value["rows"])


def test_a_model_that_cannot_be_run_is_a_row_and_the_rest_is_timed(commands, model):
    done = commands.run("latency", model, BUILT / "lambda_layer.keras", *QUICK, "--json")
    assert done.returncode == 0
    rows = json.loads(done.stdout)["rows"]
    assert all(row["p50_s"] is None and "Lambda" in row["reason"] for row in rows if row["role"] == "other-1")
    assert all(row["p50_s"] for row in rows if row["role"] == "model")
    assert "no time" in commands.run("latency", model, BUILT / "lambda_layer.keras", *QUICK).stdout


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
