"""Train here, predict there: the clash shown, and which way out gives the same outputs."""

from __future__ import annotations

import subprocess
import sys

import pytest

from stethoscope.codec import answer_of
from stethoscope.training.placement.placement_report import PlacementReport
from stethoscope.training.placement.remedies import remedies
from stethoscope.types import Budget, Job, ModelFile, Status

WAYS = {"jit-off", "scope", "scope-load", "clone"}


def placed(engine, model, data=None, **params) -> PlacementReport:
    files = {"model": ModelFile.at(model)} | ({"data": ModelFile.at(data)} if data else {})
    result = engine.wait(engine.submit(Job("placement", files, params, Budget(3 << 30, 250), "tensorflow")), 260)
    assert result.status is Status.OK, result.reason
    return answer_of(result, PlacementReport)


@pytest.mark.parametrize("name", ["xla", "old"])
def test_a_model_compiled_with_xla_clashes_and_every_way_out_is_tried(engine, models, name):
    report = placed(engine, models / f"{name}.keras", models / "even.npz")
    assert report.use.setting == "on" and report.use.pins
    assert report.clash is not None and report.clash.happened and not report.clash.assumed
    assert (report.clash.variable_device, report.clash.calling_device) == ("/CPU:0", "/CPU:1")
    assert "kernel" in report.clash.variable
    assert {attempt.id for attempt in report.attempts} == WAYS
    for attempt in report.attempts:
        assert attempt.works and attempt.equal and attempt.max_abs_diff < 1e-4, attempt
        compile(attempt.code, "remedy.py", "exec")


def test_a_model_without_xla_does_not_clash_as_saved(engine, models):
    report = placed(engine, models / "plain.keras", with_xla="as saved")
    assert report.use.setting == "off" and not report.use.pins
    assert report.clash is not None and not report.clash.happened and not report.clash.other_error
    assert report.attempts == () and "No clash" in report.sentence
    assert any("random targets" in sentence for sentence in report.assumed)


def test_other_formats_are_told_why_not(engine, tmp_path):
    from tests.small_models import tiny_onnx

    job = Job("placement", {"model": ModelFile.at(tiny_onnx(tmp_path / "m.onnx"))}, {}, Budget(2 << 30, 100), "light")
    result = engine.wait(engine.submit(job), 120)
    assert result.status is Status.FAILED and "Keras" in result.reason


def test_the_printed_programs_run(models, tmp_path):
    """On two logical CPU devices in place of a GPU and a CPU, one after the other in one process."""
    found = remedies(str(models / "xla.keras"), train_device="/CPU:0", predict_device="/CPU:1")
    before = (
        "import numpy as np, tensorflow as tf\n"
        "cpu = tf.config.list_physical_devices('CPU')[0]\n"
        "tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)\n"
        f"data = np.load({str(models / 'even.npz')!r})\nx, y = data['x'], data['y']\n"
    )
    programs = "".join(
        f"{way.code}\nassert outputs.shape == (64, 3)\ndel outputs\nprint('{way.id}')\n" for way in found
    )
    done = subprocess.run(
        [sys.executable, "-c", before + programs], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-1500:]
    assert set(done.stdout.split()) >= WAYS
