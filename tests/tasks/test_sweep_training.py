"""Training is measured in processes like the user's own, with what would lower its peak, and `predict` beside it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from sample_models import BUILT
from stethoscope.codec import answer_of
from stethoscope.memory.training_points import TrainingSwept
from stethoscope.types import Budget, Job, JobResult, ModelFile, Status
from tests.plain_process import KEPT

MIB = 1 << 20
PLAIN = (
    KEPT
    + """
import json, sys
import numpy as np, keras
path, rows = sys.argv[1], int(sys.argv[2])
started = kept("RssAnon")
model = keras.saving.load_model(path)
draw = np.random.default_rng(0)
model.compile("adam", "mse")
x = draw.random((3 * rows, *model.input_shape[1:]), dtype="float32")
model.fit(x, draw.random((3 * rows, *model.output_shape[1:]), dtype="float32"), batch_size=rows, verbose=0)
print(json.dumps(kept("VmHWM") - kept("RssFile") - started))
"""
)
"""What a user runs."""


def trained(engine, file: str, memory_bytes: int, **params) -> JobResult:
    files = {"model": ModelFile.at(BUILT / file)}
    return engine.wait(
        engine.submit(Job("sweep_training", files, params, Budget(memory_bytes, 300), "tensorflow")), 320
    )


def test_a_peak_is_that_of_a_process_like_the_users_own(engine):
    fit = {"loss": "mse", "optimizer": "adam"}
    result = trained(
        engine, "memory_hungry.keras", 6 << 30, batch_sizes=[4], fit=fit, largest=False, changes=["accumulation"]
    )
    assert result.status is Status.OK, result.reason
    answer = answer_of(result, TrainingSwept)
    (point,) = answer.points
    assert (point.call, point.status, answer.optimizer) == ("fit", Status.OK, "Adam")
    words = [sys.executable, "-c", PLAIN, str(BUILT / "memory_hungry.keras"), "4"]
    # Beside other work a plain process may take a quarter more: the tensors that are alive together are chosen by its threads.
    runs = (json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout) for _ in range(3))
    assert any(point.measured_peak_bytes == pytest.approx(plain_bytes, rel=0.15) for plain_bytes in runs)
    assert point.time_per_sample_s > 0
    (trial,) = answer.trials
    assert (trial.change.id, trial.status, answer.trials_batch) == ("accumulate", Status.OK, 4)
    assert sum(part.size_bytes for part in answer.compared.fit) == answer.compared.fit_peak_bytes


def test_the_largest_batch_ran_and_what_ran_out_is_a_row(engine):
    result = trained(engine, "memory_hungry.keras", 700 * MIB, batch_sizes=[1, 4096], compare=False)
    assert result.status is Status.OK, result.reason
    answer = answer_of(result, TrainingSwept)
    assert answer.points[-1].status is Status.REFUSED
    ran = {point.batch_size for point in (*answer.points, *answer.checks) if point.status is Status.OK}
    assert answer.largest_batch.low in {*ran, *answer.calibrated_at}
    assert answer.compared is None


def test_what_is_no_keras_model_is_refused(engine):
    result = trained(engine, "digits_cnn.onnx", 800 * MIB, batch_sizes=[1])
    assert result.status is Status.FAILED
    assert "Keras" in result.reason
