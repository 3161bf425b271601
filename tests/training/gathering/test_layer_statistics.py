"""Statistics of a layer's output, merged over batches, are those of all rows at once."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.compare.consistency.report import (
    ConsistencyReport,
    ConsistencySettings,
    ConsistencyTest,
    behaviour_from,
)
from stethoscope.training.gathering.layer_statistics import LayerStatistics, OutputStatistics


def merged(array, chunk, activation="relu"):
    found = LayerStatistics("layer", "Dense", activation)
    for start in range(0, len(array), chunk):
        part = array[start : start + chunk]
        found.add(part, len(part))
    return found.result()


@pytest.mark.parametrize("chunk", [4, 7, 40])
def test_batches_add_up(chunk):
    values = np.random.default_rng(0).normal(size=(40, 3, 6)).astype(np.float32)
    found = merged(values, chunk)
    assert found.mean == pytest.approx(values.mean(), abs=1e-5)
    assert found.std == pytest.approx(values.std(), abs=1e-4)
    assert (found.minimum, found.maximum) == (values.min(), values.max())
    assert found.shape == (40, 3, 6)


def test_a_unit_is_dead_only_when_it_is_zero_in_every_batch():
    values = np.ones((20, 4), np.float32)
    values[:, 0] = 0.0
    values[:10, 1] = 0.0
    found = merged(values, 10)
    assert found.dead_units_fraction == 0.25
    assert merged(values, 10, "linear").dead_units_fraction is None


def test_a_unit_is_constant_only_when_all_batches_agree():
    values = np.ones((20, 2), np.float32)
    values[10:, 1] = 2.0
    assert merged(values, 10).constant_units_fraction == 0.5
    assert merged(values[:10], 10).row_std == 0.0


def test_the_flat_ends_of_a_sigmoid():
    values = np.array([[0.999, 0.5], [0.001, 0.5]], np.float32)
    assert merged(values, 2, "sigmoid").saturated_fraction == 0.5
    assert merged(values, 2, "relu").saturated_fraction is None


def test_nan_is_counted_and_kept_out():
    values = np.array([[np.nan, 1.0], [3.0, np.inf]], np.float32)
    found = merged(values, 2)
    assert (found.nonfinite, found.mean, found.maximum) == (2, 2.0, 3.0)


def test_predicted_classes_over_batches():
    output = OutputStatistics.named("kind")
    for part in (np.eye(3, dtype=np.float32), np.eye(3, dtype=np.float32)[[0, 0]]):
        output.add(part, len(part))
    found = output.result()
    assert found.predicted_class_counts == (3, 1, 1)
    assert (found.row_sum_minimum, found.row_sum_maximum) == (1.0, 1.0)


def test_text_and_empty_outputs_are_left_alone():
    found = LayerStatistics("layer", "StringLookup", "")
    found.add(np.array(["a", "b"], object), 2)
    found.add(np.zeros((0, 3), np.float32), 0)
    assert found.shape == ()


def test_the_answer_of_the_consistency_job_becomes_evidence():
    test = ConsistencyTest("batch-order", "batch", "Rows", False, False, True, "d", float("inf"))
    settings = ConsistencySettings(5, 0, 8, 1e-5, False, None, "dummy")
    found = behaviour_from(ConsistencyReport(False, 5, None, (test,), settings, {}, {}))
    assert found.source == "random input"
    order = found.test("batch-order")
    assert order is not None and order.max_abs_diff == float("inf") and order.layer == ""
