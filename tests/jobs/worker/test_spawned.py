"""A fresh Python for each job does what a fork does: the way macOS runs, tried on Linux too."""

from __future__ import annotations

import pytest

from stethoscope.jobs.job_engine import Engine
from stethoscope.types import Budget, Job, ModelFile, Status
from tests.small_models import endless_onnx, tiny_onnx


@pytest.fixture
def spawning(tmp_path):
    made = Engine(tmp_path, {"light": 1, "tensorflow": 1}, 1 << 62, spawn=True)
    yield made
    made.stop()


def test_a_job_runs_and_is_contained_the_same(spawning, tmp_path):
    model = {"model": ModelFile.at(tiny_onnx(tmp_path / "tiny.onnx"))}
    result = spawning.wait(spawning.submit(Job("predict", model, {"batch_size": 2}, Budget(1 << 30, 60))), 60)
    assert result.status is Status.OK, result.reason
    assert result.value["outputs"]["y"]["shape"] == [2, 4]


def test_an_endless_job_is_ended(spawning, tmp_path):
    model = {"model": ModelFile.at(endless_onnx(tmp_path / "endless.onnx"))}
    result = spawning.wait(spawning.submit(Job("predict", model, {}, Budget(1 << 30, 2))), 60)
    assert result.status is Status.TIMED_OUT
