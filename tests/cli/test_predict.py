"""`predict` with settings as a program sees it: the contract's keys, and refusals in our words before running."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from sample_models import BUILT
from stethoscope.cli.settings import refusal, run_settings
from stethoscope.errors import BadSetting
from stethoscope.memory.run_settings import RunSettings

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
