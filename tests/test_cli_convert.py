"""`convert` as a program sees it: the contract's keys, every option, and files that the other commands take."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.convert.sources import two_ends

BUILT = Path(__file__).resolve().parents[1] / "sample_models" / "built"
KEYS = {"status", "path", "size_bytes", "runs_in_target", "max_abs_diff", "unsupported"}


@pytest.fixture(scope="module")
def two(tmp_path_factory) -> tuple[Path, Path]:
    """A model with two inputs and two outputs, and rows for it."""
    folder = tmp_path_factory.mktemp("two")
    model, feed = two_ends()
    model.save(folder / "two.keras")
    np.savez(folder / "rows.npz", **feed)
    return folder / "two.keras", folder / "rows.npz"


@pytest.mark.parametrize(
    ("target", "out"),
    [
        ("onnx", "new/two.onnx"),
        ("tflite", "two.tflite"),
        ("tflite-int8", "two.tflite"),
        ("saved_model", "folder"),
        ("savedmodel", "two.zip"),
        ("frozen_graph", "two.pb"),
    ],
)
def test_what_it_makes_is_taken_by_the_other_commands(commands, two, tmp_path, target, out):
    model, rows = two
    value = commands.answer("convert", model, "--to", target, "--out", tmp_path / out, "--data", rows)
    assert value.keys() >= KEYS
    assert (value["status"], value["runs_in_target"], value["unsupported"]) == ("ok", True, [])
    assert value["path"] == str((tmp_path / out).resolve())
    assert value["max_abs_diff"] < (0.1 if target == "tflite-int8" else 1e-5)
    described = commands.answer("describe", tmp_path / out)
    assert {spec["name"] for spec in described["inputs"]} == {"left", "right"}
    assert {spec["name"] for spec in described["outputs"]} == {"kind", "size"}
    predicted = commands.answer("predict", tmp_path / out, "--data", rows, "--out", tmp_path / "answers")
    assert predicted["outputs"]["kind"]["shape"] == [6, 3]
    assert commands.answer("consistency", tmp_path / out, "--runs", 2)["consistent"] is True


def test_rows_of_a_call_are_fixed_on_request(commands, two, tmp_path):
    model, _ = two
    value = commands.answer("convert", model, "--to", "onnx", "--out", tmp_path / "two.onnx", "--batch-size", 2)
    assert value["options"]["batch_size"] == 2
    described = commands.answer("describe", tmp_path / "two.onnx")
    assert {tuple(spec["shape"]) for spec in described["inputs"]} == {(2, 4), (2, 3)}


def test_the_opset_is_the_one_asked_for(commands, two, tmp_path):
    commands.answer("convert", two[0], "--to", "onnx", "--out", tmp_path / "two.onnx", "--opset", 15)
    assert "opset 15" in commands.answer("describe", tmp_path / "two.onnx")["framework_version"]


def test_full_int8_with_integer_ends(commands, two, tmp_path):
    out = tmp_path / "two.tflite"
    words = ("convert", two[0], "--to", "tflite-int8", "--out", out, "--data", two[1])
    commands.answer(*words, "--integer-ends", "--calibration-rows", 6)
    assert {spec["dtype"] for spec in commands.answer("describe", out)["inputs"]} == {"int8"}


def test_operators_without_an_integer_kernel_stay_in_float_on_request(commands, tmp_path):
    import keras

    inputs = keras.Input((4,), name="rows")
    keras.Model(inputs, keras.ops.tan(keras.layers.Dense(3)(inputs))).save(tmp_path / "tan.keras")
    words = ("convert", tmp_path / "tan.keras", "--to", "tflite-int8", "--out", tmp_path / "tan.tflite")
    refused = commands.run(*words, "--json")
    value = json.loads(refused.stdout)
    assert refused.returncode == 2
    assert value["path"] is None and not value["runs_in_target"]
    assert value["unsupported"] and value["reason"].endswith(".")
    assert commands.run(*words, "--allow-float").returncode in (0, 2)


def test_a_failure_is_one_line_and_leaves_nothing(commands, tmp_path):
    done = commands.run("convert", BUILT / "digits_cnn.onnx", "--to", "tflite", "--out", tmp_path / "x.tflite")
    assert done.returncode == 2
    assert not (tmp_path / "x.tflite").exists()
    assert "not converted" in done.stdout and "Convert the model that it was made from." in " ".join(
        done.stdout.split()
    )


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--to", "coreml"), "expected one of onnx"),
        (("--to", "onnx", "--opset", 40), "expected 13 to 20"),
    ],
)
def test_a_wrong_choice_is_told_before_anything_is_run(commands, tmp_path, words, why):
    done = commands.run("convert", BUILT / "digits_cnn.keras", *words, "--out", tmp_path / "x")
    assert done.returncode == 2 and why in done.stderr


def test_a_folder_with_something_in_it_is_not_written_over(commands, two, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "kept.txt").write_text("kept")
    done = commands.run("convert", two[0], "--to", "saved_model", "--out", tmp_path / "mine")
    assert done.returncode == 2 and "empty" in done.stderr
    assert (tmp_path / "mine" / "kept.txt").read_text() == "kept"


def test_a_person_reads_what_it_gained(commands, tmp_path):
    done = commands.run("convert", BUILT / "digits_cnn.keras", "--to", "tflite-int8", "--out", tmp_path / "d.tflite")
    assert done.returncode == 0
    for word in ("TFLite (full int8)", "size", "time", "off by", "random input"):
        assert word in done.stdout
