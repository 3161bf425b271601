"""The jobs behind the Architecture page: one layer's weights, and two models side by side, in a contained worker."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.codec import answer_of
from stethoscope.tasks.compare_architectures import ArchitectureDifference
from stethoscope.tasks.weights_of_layer import LayerWeights
from stethoscope.types import Budget, Job, ModelFile, Status
from tests.small_models import tiny_onnx

BUDGET = Budget(1 << 30, 60)


def run(engine, kind, files, params):
    return engine.wait(
        engine.submit(Job(kind, {role: ModelFile.at(path) for role, path in files.items()}, params, BUDGET))
    )


def test_statistics_of_one_layer(engine, tmp_path):
    result = run(engine, "weights_of_layer", {"model": tiny_onnx(tmp_path / "m.onnx")}, {"layer": "project"})
    assert result.status is Status.OK
    (weight,) = answer_of(result, LayerWeights).weights
    assert (weight.shape, weight.count, weight.max, weight.zero_fraction) == ((4, 4), 16, 2.0, 0.75)
    assert weight.norm == pytest.approx(4.0)
    assert sum(weight.histogram.counts) == 16


def test_a_layer_that_does_not_exist(engine, tmp_path):
    result = run(engine, "weights_of_layer", {"model": tiny_onnx(tmp_path / "m.onnx")}, {"layer": "nothing"})
    assert result.status is Status.FAILED
    assert "path of one" in result.reason


def test_two_models_with_other_weights(engine, tmp_path):
    files = {"model": tiny_onnx(tmp_path / "a.onnx", 2.0), "other": tiny_onnx(tmp_path / "b.onnx", 3.0)}
    result = run(engine, "compare_architectures", files, {})
    assert result.status is Status.OK
    compared = answer_of(result, ArchitectureDifference)
    (pair,) = compared.pairs
    assert (pair.a, pair.b, pair.how, pair.changes) == ("project", "project", "name", ())
    assert pair.weights.norm_of_difference == pytest.approx(np.linalg.norm(np.eye(4)))
    assert pair.weights.relative == pytest.approx(1 / 3)
    assert compared.summary.other_weights == 1
    assert (compared.added, compared.removed) == ((), ())
