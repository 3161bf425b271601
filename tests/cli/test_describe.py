"""`stethoscope describe`: one file or many, weights beside a model, standard input; what cannot be read is an answer too."""

from __future__ import annotations

import io
import json
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from stethoscope.cli.app import app
from stethoscope.cli.described_text import compiled
from stethoscope.types import CompileSettings
from tests.answers import BUILT
from tests.models.formats.weights_files import checkpoint, dense, h5
from tests.small_models import tiny_onnx

MODEL = BUILT / "wine_unscaled.keras"


@pytest.fixture
def folder(tmp_path) -> Path:
    """Two models, weights, and what is no model."""
    shutil.copy(MODEL, tmp_path / "a.keras")
    tiny_onnx(tmp_path / "b.onnx")
    checkpoint(tmp_path / "steps", dense())
    (tmp_path / "notes.txt").write_text("nothing")
    return tmp_path


def objects(done) -> list[dict]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_several_are_a_line_each(commands, folder):
    done = commands.run("describe", folder / "a.keras", folder / "b.onnx", "--json")
    assert done.returncode == 0
    assert [(Path(one["file"]).name, one["status"], one["format_id"]) for one in objects(done)] == [
        ("a.keras", "ok", "keras"),
        ("b.onnx", "ok", "onnx"),
    ]
    assert len(commands.run("describe", folder / "a.keras", folder / "b.onnx").stdout.splitlines()) == 2


def test_a_folder_and_a_pattern_are_the_models_in_them(commands, folder):
    assert {one["format_id"] for one in objects(commands.run("describe", folder, "--json"))} == {
        "keras",
        "onnx",
        "checkpoint",
    }
    assert [one["format_id"] for one in objects(commands.run("describe", folder / "*.keras", "--json"))] == ["keras"]
    none = commands.run("describe", folder / "*.tflite", "--json")
    assert none.returncode == 2 and objects(none)[0]["status"] == "failed"


def test_a_folder_with_one_model_is_that_model(commands, folder):
    (folder / "b.onnx").unlink()
    shutil.rmtree(folder / "steps")
    (only,) = objects(commands.run("describe", folder, "--json"))
    assert only["format_id"] == "keras" and "file" not in only


def test_one_of_several_that_fails_leaves_the_others(commands, folder):
    done = commands.run("describe", folder / "a.keras", folder / "gone.keras", "--json")
    first, second = objects(done)
    assert done.returncode == 2
    assert first["status"] == "ok" and second["status"] == "failed" and str(folder / "gone.keras") in second["reason"]


def test_weights_are_held_beside_a_model(commands, tmp_path):
    own = commands.run("describe", MODEL, "--weights", MODEL, "--json")
    assert own.returncode == 0 and objects(own)[0]["weights_fit"]["fits"]
    others = commands.run("describe", MODEL, "--weights", h5(tmp_path / "w.h5", dense()), "--json")
    assert others.returncode == 1 and not objects(others)[0]["weights_fit"]["fits"]


def test_weights_are_described_with_their_values(commands, tmp_path):
    (found,) = objects(commands.run("describe", h5(tmp_path / "w.h5", dense()), "--json"))
    kernel = next(one for one in found["weights"] if one["name"] == "dense_2/kernel")
    assert kernel["shape"] == [4, 6] and kernel["nonfinite"] == 0 and sum(kernel["histogram"]["counts"]) == 24
    assert abs(kernel["mean"] - float(dense()["dense_2/kernel"].mean())) < 1e-6


@pytest.mark.parametrize("name", ["model.ckpt-1", "model.ckpt-1.index", "model.ckpt-1.data-00000-of-00001"])
def test_a_checkpoint_is_named_by_any_of_its_files(name, commands, tmp_path):
    checkpoint(tmp_path, dense())
    (found,) = objects(commands.run("describe", tmp_path / name, "--json"))
    assert found["format_id"] == "checkpoint" and not any(one["unreadable"] for one in found["weights"])


def test_two_sets_of_weights_are_compared(commands, tmp_path):
    first, second = h5(tmp_path / "a.h5", dense()), h5(tmp_path / "b.h5", dense(seed=1))
    same, other = commands.run("compare", first, first, "--json"), commands.run("compare", first, second, "--json")
    assert (same.returncode, objects(same)[0]["verdict"]) == (0, "equal")
    assert (other.returncode, objects(other)[0]["verdict"]) == (1, "different")
    assert {"outputs", "top1_agreement", "first_divergence", "weights"} <= objects(other)[0].keys()
    assert "dense_2/kernel" in commands.run("compare", first, second).stdout


def test_standard_input_is_read(commands, monkeypatch):
    monkeypatch.setattr(
        "stethoscope.cli.describing.sys",
        SimpleNamespace(
            stdout=sys.stdout, stderr=sys.stderr, stdin=SimpleNamespace(buffer=io.BytesIO(MODEL.read_bytes()))
        ),
    )
    (found,) = objects(commands.run("describe", "-", "--json"))
    assert found["format_id"] == "keras"


WRONG = (
    ("describe", "gone.keras"),
    ("predict", "gone.keras"),
    ("check", "gone.keras"),
    ("compare", "gone.keras", "gone.h5"),
    ("predict", str(MODEL), "--batch-size", "many"),
    ("predict", str(MODEL), "--no-such-option"),
    ("predict",),
    ("nonsense",),
)


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_what_cannot_run_is_one_object(words, commands):
    done = commands.run(*words, "--json")
    (said,) = objects(done)
    assert done.returncode == 2 and said["status"] == "failed" and said["reason"]


def test_version_and_short_help():
    assert CliRunner().invoke(app, ["--version"]).stdout.startswith("stethoscope ")
    assert CliRunner().invoke(app, ["describe", "-h"]).stdout == CliRunner().invoke(app, ["describe", "--help"]).stdout


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (CompileSettings("mse", "Adam", 0.009999999776482582, ["accuracy"]), ("mse", "0.01", "accuracy")),
        (
            CompileSettings(
                {"class_name": "BinaryCrossentropy", "config": {"from_logits": True, "name": "x", "fn": "y"}},
                "SGD",
                None,
            ),
            ("BinaryCrossentropy(from_logits=True)",),
        ),
        (
            CompileSettings({"a": "mse", "b": "mae"}, None, None, [["accuracy"], None]),
            ("mse of a", "mae of b", "accuracy"),
        ),
    ],
)
def test_compile_settings_are_words(settings, said):
    line = compiled(settings)
    assert all(part in line for part in said) and not set("{}[]'") & set(line)
