"""The profile of a user's arrays: exact where it says so, and what labels are."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from stethoscope.data.study.array_statistics import CHUNK_VALUES, conflicting, profile_array, repeated, row_hashes
from stethoscope.data.study.target_profile import profile_target
from stethoscope.tasks.profile import profile_data
from stethoscope.types import TensorSpec
from tests.data.test_binding import model
from tests.exploring import examples
from tests.tables import each

RANDOM = np.random.default_rng(0)


@examples(60)
@given(
    arrays_of.arrays(
        np.float32, st.tuples(st.integers(1, 30), st.integers(1, 5)), elements=st.floats(-1e3, 1e3, width=32)
    )
)
def test_statistics_are_those_of_numpy(array):
    found = profile_array("x", array)
    assert found.minimum == array.min() and found.maximum == array.max()
    assert found.mean == pytest.approx(array.astype(float).mean(), abs=1e-6)
    assert found.std == pytest.approx(array.astype(float).std(), abs=1e-4)
    assert sum(found.histogram_counts) == array.size
    assert found.duplicate_rows == len(array) - len({row.tobytes() for row in array})
    if array.shape[1] > 1:
        np.testing.assert_allclose(found.features.std, array.astype(float).std(axis=0), atol=1e-3)


def test_statistics_of_many_chunks_agree_with_those_of_one():
    array = (RANDOM.normal(size=(CHUNK_VALUES // 4, 10)) * np.arange(1, 11) + 500).astype(np.float32)
    found = profile_array("x", array)
    np.testing.assert_allclose(found.features.mean, array.mean(axis=0, dtype=np.float64), rtol=1e-6)
    np.testing.assert_allclose(found.features.std, array.std(axis=0, dtype=np.float64), rtol=1e-5)


def test_gaps_are_counted_and_left_out_of_the_statistics():
    array = RANDOM.normal(size=(50, 3))
    array[3, 1], array[7, 0], array[7, 2] = np.nan, np.inf, np.nan
    found = profile_array("x", array)
    assert (found.nan, found.infinite, found.nan_rows) == (2, 1, 2)
    assert found.mean == pytest.approx(array[np.isfinite(array)].mean())
    assert all(math.isfinite(value) for value in found.features.std)


def test_an_array_of_nothing_but_nan_has_no_statistics():
    found = profile_array("x", np.full((4, 2), np.nan))
    assert (found.nan, found.nan_rows, found.mean, found.features) == (8, 4, None, None)


def test_images_are_described_by_channel():
    array = RANDOM.integers(0, 256, (20, 8, 8, 3)).astype(np.uint8)
    array[..., 2] = 7
    found = profile_array("x", array)
    assert len(found.features.mean) == 3 and found.constant_features == (2,)
    assert found.integral and found.features.distinct[2] == 1


@pytest.mark.parametrize(
    ("values", "listed"), [([0, 1, 1], (0.0, 1.0)), (range(64), tuple(range(64))), (range(65), ())]
)
def test_different_values_are_listed_while_they_are_few(values, listed):
    assert profile_array("y", np.array(list(values))).distinct_values == listed


def test_text_and_scalars_have_profiles_too():
    assert profile_array("x", np.array(["a", "bc", "a"])).duplicate_rows == 1
    assert profile_array("x", np.array(3.0)).mean == 3.0
    assert profile_array("x", np.zeros((0, 4))).rows == 0


def test_rows_that_differ_only_in_signs_have_different_hashes():
    rows = np.array([[1.0, 2.0], [-1.0, 2.0], [1.0, -2.0], [-1.0, -2.0], [2.0, 1.0], [1.0, 2.0]], np.float32)
    assert repeated(row_hashes(rows)) == 1


def test_conflicts_are_rows_with_an_equal_input_and_another_label():
    x = np.array([[1], [1], [2], [2], [1]])
    y = np.array([0, 1, 1, 1, 0])
    assert conflicting(row_hashes(x), row_hashes(y)) == 1


SINGLE, THREE = TensorSpec("kind", (None, 1), "float32"), TensorSpec("kind", (None, 3), "float32")
STEPS = TensorSpec("kind", (None, 5, 4), "float32")
ONES = np.eye(3)[np.arange(60) % 3]


@each(
    ("y", "spec", "kind"),
    [
        (np.arange(60) % 2, SINGLE, "binary"),
        (np.arange(60) % 2 * 2 - 1, SINGLE, "binary"),
        ((np.arange(60) % 2 * 255.0)[:, None], SINGLE, "binary"),
        (np.arange(60) % 2 == 0, SINGLE, "binary"),
        (np.arange(60) % 3, THREE, "classes"),
        ((np.arange(60) % 3).astype(np.float32)[:, None], THREE, "classes"),
        (np.arange(60) % 5 + 1, SINGLE, "classes"),
        (np.arange(60), SINGLE, "continuous"),
        (np.arange(60) % 3 / 255, THREE, "continuous"),
        (RANDOM.normal(size=60), SINGLE, "continuous"),
        (ONES, THREE, "one-hot"),
        (np.maximum(ONES, ONES[::-1]), THREE, "multi-hot"),
        (np.zeros((60, 3)), THREE, "multi-hot"),
        (ONES * 0.8 + 0.2 / 3, THREE, "distribution"),
        (RANDOM.normal(size=(60, 3)), THREE, "continuous"),
        (RANDOM.integers(0, 4, (60, 5)), STEPS, "classes"),
        (np.eye(4)[RANDOM.integers(0, 4, (60, 5))], STEPS, "one-hot"),
        (np.array(["cat", "dog"] * 30), THREE, "text"),
        (np.zeros((0, 3)), THREE, "empty"),
    ],
)
def test_what_labels_are(y, spec, kind):
    assert profile_target("y", y, spec, {}).kind == kind


def test_classes_are_counted_and_placed():
    y = np.array([2, 0, 0, 2, 5, 5, 5, 0] * 3)
    found = profile_target("y", y, TensorSpec("y", (None, 6), "float32"), {})
    assert found.class_values == (0, 2, 5) and found.class_counts == (9, 6, 9)
    assert found.first_row == (1, 0, 4) and found.last_row == (23, 19, 22)


def test_order_is_seen():
    y = np.repeat(np.arange(4), 25)
    found = profile_target("y", y, TensorSpec("y", (None, 4), "float32"), {})
    assert found.neighbour_equality == pytest.approx(96 / 99)
    assert found.expected_equality == pytest.approx(24 / 99)
    assert found.order_correlation > 0.95
    shuffled = profile_target("y", RANDOM.permutation(y), TensorSpec("y", (None, 4), "float32"), {})
    assert abs(shuffled.order_correlation) < 0.4


def test_a_column_that_gives_the_answer_away_is_found():
    x = RANDOM.normal(size=(100, 6))
    y = (x[:, 4] > 0.3).astype(int)
    found = profile_target("y", y, SINGLE, {"x": x})
    assert found.best_single_feature == (4, 1.0) and found.perfect_features == 1
    noise = profile_target("y", RANDOM.integers(0, 2, 100), SINGLE, {"x": x})
    assert noise.perfect_features == 0 and noise.best_single_feature[1] < 0.8


def test_a_middle_class_needs_two_cuts_and_gets_them():
    x = RANDOM.uniform(size=(120, 2))
    y = np.digitize(x[:, 1], [0.3, 0.6])
    assert profile_target("y", y, THREE, {"x": x}).best_single_feature == (1, 1.0)


def test_evidence_names_arrays_by_the_models_ends():
    x = RANDOM.normal(size=(40, 4))
    data = {"x": x, "y": np.arange(40) % 3, "x_test": x * 255}
    found = profile_data(data, model(), "rows.npz")
    assert list(found.inputs) == ["image"] and list(found.targets) == ["kind"] and list(found.others) == ["x_test"]
    assert (found.source, found.rows, found.binding_problem) == ("rows.npz", 40, "")


def test_arrays_that_fit_nothing_are_profiled_and_the_problem_said():
    found = profile_data({"a": np.zeros((3, 2)), "b": np.ones((3, 2))}, model(), "rows.npz")
    assert found.binding_problem and set(found.others) == {"a", "b"}
