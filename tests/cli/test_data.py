"""`--data` of any kind, prepared with `--prepare`, its target named with `--target`."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sample_models import BUILT
from stethoscope.cli import run as cli_run
from stethoscope.errors import BadSetting

SIXTEENTH = '[{"step": "scale", "of": "x", "factor": 0.0625}]'


def test_a_model_foretells_digits_that_were_prepared_for_it(commands, tmp_path):
    data = BUILT / "digit_images.npz"
    value = commands.answer(
        "predict", BUILT / "digits_cnn.onnx", "--data", data, "--prepare", SIXTEENTH, "--out", tmp_path
    )
    (output,) = value["outputs"].values()
    with np.load(data) as arrays:
        hits = np.mean(np.load(output["path"]).argmax(axis=1) == arrays["y"])
    assert hits > 0.97


def test_a_folder_of_arrays_goes_through_a_consistency_run(commands, tmp_path):
    with np.load(BUILT / "digit_images.npz") as arrays:
        for place in range(6):
            folder = tmp_path / "digits" / str(arrays["y"][place])
            folder.mkdir(parents=True, exist_ok=True)
            np.save(folder / f"{place}.npy", (arrays["x"][place] / 16).astype(np.float32))
    value = commands.answer("consistency", BUILT / "digits_cnn.onnx", "--data", tmp_path / "digits", "--runs", 2)
    assert value["status"] == "ok" and value["consistent"] is True


def test_a_table_is_checked_with_the_target_that_was_named(commands):
    asked = ("--data", BUILT / "wine.csv", "--target", "hue", "--only", "input-shape", "--json")
    value = json.loads(commands.run("check", BUILT / "digits_cnn.onnx", *asked).stdout)
    assert value["request"]["data_options"] == {"target": "hue"}
    assert [one["check_id"] for one in value["findings"]] == ["input-shape"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("{", "expected JSON"),
        ("{}", "expected a list"),
        ('[{"step": "grow"}]', "no such step"),
        ("[1]", "list of steps"),
    ],
)
def test_steps_that_make_no_sense_are_said_before_anything_runs(given, said):
    with pytest.raises(BadSetting, match=said):
        cli_run.data_params(given, "")


def test_nothing_asked_is_nothing_sent():
    assert cli_run.data_params("", "") == {}


def test_an_unknown_target_is_one_line_on_stderr(commands):
    result = commands.run("predict", BUILT / "wine_keras2.keras", "--data", BUILT / "wine.csv", "--target", "colour")
    assert result.returncode == 2 and "'colour'" in result.stderr and "alcohol" in result.stderr
