"""`convert` as a program sees it: the contract's keys, every option, and files that the other commands take."""

from __future__ import annotations

import json
import signal
import threading
from pathlib import Path

import numpy as np
import pytest

from sample_models import BUILT
from tests import deterministic
from tests.commands import Ended
from tests.compare.convert.deaths import end_the_converter
from tests.compare.convert.sources import two_ends

KEYS = {"status", "path", "size_bytes", "runs_in_target", "max_abs_diff", "unsupported"}


@pytest.fixture(scope="module")
def two(tmp_path_factory) -> tuple[Path, Path]:
    """A model with two inputs and two outputs, and rows for it."""
    folder = tmp_path_factory.mktemp("two")
    deterministic.begin()
    model, feed = two_ends()
    deterministic.save(model, folder / "two.keras")
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


def test_the_rows_of_a_call_and_the_opset_are_those_asked_for(commands, two, tmp_path):
    words = ("convert", two[0], "--to", "onnx", "--out", tmp_path / "two.onnx", "--batch-size", 2, "--opset", 15)
    assert commands.answer(*words)["options"]["batch_size"] == 2
    described = commands.answer("describe", tmp_path / "two.onnx")
    assert {tuple(spec["shape"]) for spec in described["inputs"]} == {(2, 4), (2, 3)}
    assert "opset 15" in described["framework_version"]


def test_full_int8_with_integer_ends(commands, two, tmp_path):
    out = tmp_path / "two.tflite"
    words = ("convert", two[0], "--to", "tflite-int8", "--out", out, "--data", two[1])
    commands.answer(*words, "--integer-ends", "--calibration-rows", 6)
    assert {spec["dtype"] for spec in commands.answer("describe", out)["inputs"]} == {"int8"}


@pytest.fixture(scope="module")
def odd(tmp_path_factory) -> Path:
    """Models with an operator in their middle that LiteRT computes in floats only: one that converters leave, one they refuse."""
    import keras

    made = tmp_path_factory.mktemp("odd")
    for name in ("sin", "negative"):
        deterministic.begin()
        inputs = keras.Input((4,), name="words", dtype="int32")
        x = keras.layers.GlobalAveragePooling1D()(keras.layers.Embedding(9, 4)(inputs))
        x = getattr(keras.ops, name)(keras.layers.Dense(3)(x))
        deterministic.save(keras.Model(inputs, keras.layers.Dense(2, name="last")(x)), made / f"{name}.keras")
    return made


def _in_floats(path: Path) -> set[str]:
    from stethoscope.models.formats import detect
    from stethoscope.types import ModelFile

    layers = detect(ModelFile.at(path)).describe(ModelFile.at(path)).layers
    return {layer.type for layer in layers if layer.dtype == "float32"} - {"DEQUANTIZE"}


@pytest.mark.parametrize("target", ["tflite-int8", "tflite-int16x8"])
def test_operators_that_the_converter_leaves_in_float_are_named(commands, odd, tmp_path, target):
    out = tmp_path / "sin.tflite"
    value = commands.answer("convert", odd / "sin.keras", "--to", target, "--out", out, "--calibration-rows", 8)
    assert any("in floats" in note and "SIN (layer sin)" in note for note in value["notes"])
    assert _in_floats(out) == {"SIN"}
    assert value["max_abs_diff"] < 0.05


def test_allowing_floats_changes_nothing_where_the_converter_leaves_them_anyway(commands, odd, tmp_path):
    out = tmp_path / "negative.tflite"
    words = ("convert", odd / "negative.keras", "--to", "tflite-int8", "--out", out, "--calibration-rows", 8)
    for asked in (words, (*words, "--allow-float")):
        value = commands.answer(*asked)
        assert any("in floats" in note and "NEG" in note for note in value["notes"])
        assert _in_floats(out) == {"NEG"}


@pytest.mark.parametrize("number", [signal.SIGKILL, pytest.param(signal.SIGSEGV, marks=pytest.mark.sweep)])
def test_a_converter_that_dies_is_a_sentence_and_leaves_nothing(commands, engine, tmp_path, number):
    ended: list[Ended] = []
    words = ("convert", BUILT / "bert_small.keras", "--to", "tflite", "--out", tmp_path / "b.tflite", "--json")
    caller = threading.Thread(target=lambda: ended.append(commands.run(*words)))
    caller.start()
    end_the_converter(engine, number)
    caller.join()
    value = json.loads(ended[0].stdout)
    assert (ended[0].returncode, value["status"], value["path"]) == (2, "crashed", None)
    assert number.name in value["reason"] and "phase “convert”" in value["reason"]
    assert "once more" in value["reason"]
    assert not list(tmp_path.iterdir())


def test_a_converter_that_needs_more_than_it_may_is_stopped(commands, tmp_path):
    words = ("convert", BUILT / "bert_small.keras", "--to", "tflite", "--out", tmp_path / "b.tflite")
    done = commands.run(*words, "--memory-limit", "20MB", "--json")
    value = json.loads(done.stdout)
    assert (done.returncode, value["status"], value["path"]) == (2, "out_of_memory", None)
    assert "memory limit" in value["reason"] and not list(tmp_path.iterdir())


def test_a_failure_is_one_line_and_leaves_nothing(commands, tmp_path):
    done = commands.run("convert", BUILT / "digits_cnn.onnx", "--to", "tflite", "--out", tmp_path / "x.tflite")
    assert done.returncode == 2
    assert not (tmp_path / "x.tflite").exists()
    assert "not converted" in done.stdout and "it was made" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("words", "why"), [(("--to", "coreml"), "one of onnx"), (("--to", "onnx", "--opset", 40), "expected 13 to 18")]
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
