"""Which misbehaviour each test of determinism and of the batch sees, and the layer it blames."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.types import TensorSpec
from tests.compare.consistency.numpy_model import dense, study, wrong


def test_a_healthy_model_fails_nothing(tmp_path):
    report = study(tmp_path, dense())
    assert report.consistent is True
    assert report.first_difference is None
    assert wrong(report) == set()


def test_noise_is_traced_to_its_layer(tmp_path):
    random = np.random.default_rng()
    report = study(tmp_path, dense(), ("noise", "GaussianNoise", lambda x: x + random.standard_normal(x.shape)))
    assert report.consistent is False
    assert report.first_difference.layer == "noise"
    assert "random" in report.first_difference.reason
    # What cannot be judged is not called passed.
    assert report.test("batch-order").passed is None


def test_a_stateful_layer_says_so(tmp_path):
    state = [0.0]

    def counting(x):
        state[0] += 1
        return x + state[0]

    report = study(tmp_path, dense(), ("memory", "LSTM", counting), config={"memory": {"stateful": True}})
    assert report.first_difference.layer == "memory"
    assert "stateful" in report.first_difference.reason


def test_a_model_that_remembers_other_inputs_only_is_found(tmp_path):
    seen = [None]

    def remembering(x):
        key = x[0].tobytes()
        drift = 0.0 if seen[0] in (None, key) else 1.0
        seen[0] = seen[0] or key
        remembering.drift = max(remembering.drift, drift)
        return x + remembering.drift

    remembering.drift = 0.0
    report = study(tmp_path, ("moving", "Custom", remembering), batch_size=1)
    assert "same-after-others" in wrong(report)
    assert report.consistent is False


@pytest.mark.parametrize(
    ("name", "kind", "function", "config", "reason"),
    [
        ("bn", "BatchNormalization", lambda x: (x - x.mean(0)) / (x.std(0) + 1), {}, "statistics"),
        ("wrong", "Softmax", lambda x: np.exp(x) / np.exp(x).sum(0), {"axis": 0}, "axis 0"),
        ("mix", "Reshape", lambda x: x.T.reshape(x.shape), {}, "batch dimension"),
        ("shift", "Custom", lambda x: np.roll(x, 1, axis=0), {}, "mixes the rows"),
    ],
)
def test_rows_that_influence_each_other_are_traced(tmp_path, name, kind, function, config, reason):
    report = study(tmp_path, dense(), (name, kind, function), config={name: config})
    assert report.consistent is False
    assert "batch-independence" in wrong(report) or "batch-order" in wrong(report)
    assert report.first_difference.layer == name
    assert reason in report.first_difference.reason
    # One cause is one finding: the row of NaN would only say it again.
    assert not {"edge-nan-row", "edge-inf-row"} & wrong(report)


def test_a_model_that_depends_on_the_size_of_the_batch_alone(tmp_path):
    report = study(tmp_path, dense(), ("scale", "Custom", lambda x: x / len(x)))
    assert {"batch-1-vs-n", "batch-sizes"} <= wrong(report)
    assert "batch-independence" not in wrong(report)
    assert report.first_difference.layer == "scale"


def test_a_fixed_first_dimension_of_a_graph_may_be_no_batch(tmp_path):
    spec = TensorSpec("x", (4, 6), "float32")
    offsets = np.arange(4, dtype=np.float32)[:, None]
    added = ("add", "Add", lambda x: x + offsets)
    graph = study(tmp_path, added, spec=spec, format_id="frozen_graph")
    assert graph.consistent is True
    assert graph.test("batch-order").noted is True
    assert study(tmp_path, added, spec=spec, format_id="keras").consistent is False


@pytest.mark.parametrize(("dtype", "consistent"), [("float32", False), ("float16", True)])
def test_rounding_is_judged_by_the_precision_a_model_computes_in(tmp_path, dtype, consistent):
    def rounded(x):
        return x * np.float32(1 + (len(x) == 1) * 1e-3)

    report = study(tmp_path, dense(), ("round", "Dense", rounded), dtype=dtype)
    assert report.consistent is consistent
