"""Targets follow the loss: class numbers, one-hot rows, 0 and 1, of training and validation rows alike."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.errors import CannotRun
from stethoscope.program.target_encoding import output_units, reshaped, with_encoding, with_loss
from tests.checks.fixes.setups import dense, entry, setup

HOT = np.eye(3, dtype=np.float32)


def test_sparse_and_one_hot_are_turned_into_each_other():
    base = setup()
    hot = with_loss(base, "out", "categorical_crossentropy", False)
    assert hot.y[0].shape == (8, 3)
    assert hot.y_val[0].shape == (4, 3)
    back = with_loss(hot, "out", "sparse_categorical_crossentropy", False)
    assert np.array_equal(back.y[0], base.y[0])
    assert np.array_equal(back.y_val[0], base.y_val[0])
    assert back.losses == ("sparse_categorical_crossentropy",)


def test_a_column_of_labels_becomes_a_row_of_numbers():
    base = setup(y=(np.arange(8).reshape(8, 1) % 3,), y_val=(np.arange(4).reshape(4, 1) % 3,))
    assert with_loss(base, "", "sparse_categorical_crossentropy", False).y[0].shape == (8,)


def test_labels_that_start_at_one_get_as_many_columns_as_the_output_has_units():
    base = setup(y=(np.arange(8) % 3 + 1,), y_val=(np.array([3, 2, 1, 1]),))
    changed = with_loss(base, "out", "categorical_crossentropy", False)
    assert changed.y[0].shape[1] == 3
    assert changed.y_val[0].argmax(axis=1).tolist() == [2, 1, 0, 0]


def test_logits_are_kept_in_the_serialised_loss():
    changed = with_loss(setup(), "out", "sparse_categorical_crossentropy", True)
    assert changed.losses[0]["config"]["from_logits"] is True


def test_one_unit_reads_zero_and_one():
    base = setup(y=(HOT[:2, :2][np.arange(8) % 2],), y_val=())
    changed = with_loss(base, "out", "binary_crossentropy", False, units=1)
    assert changed.y[0].shape == (8, 1)
    assert set(np.unique(changed.y[0])) == {0.0, 1.0}
    signs = setup(y=(np.arange(8) % 2 * 2 - 1,), y_val=())
    assert set(np.unique(with_loss(signs, "", "binary_crossentropy", False, units=1).y[0])) == {0.0, 1.0}


def test_real_numbers_stay_as_they_are():
    y = np.linspace(0, 1, 8).astype(np.float32)
    assert np.array_equal(with_loss(setup(y=(y,), y_val=()), "", "mean_absolute_error", False).y[0], y)


def test_encodings():
    base = setup(y=(np.array([1, 5, 9, 1, 5, 9, 1, 5]),), y_val=(np.array([9, 1, 5, 9]),))
    assert with_encoding(base, "", "zero-based", None, None, "").y[0].tolist() == [0, 1, 2, 0, 1, 2, 0, 1]
    assert with_encoding(base, "", "integer", None, None, "").y_val[0].tolist() == [2, 0, 1, 2]
    scaled = setup(y=((np.arange(8) % 3 / 255).astype(np.float32),), y_val=())
    assert with_encoding(scaled, "", "unscale", None, 255.0, "").y[0].tolist() == [0, 1, 2, 0, 1, 2, 0, 1]
    hot = with_encoding(setup(), "", "one-hot", None, None, "")
    assert hot.losses == ("categorical_crossentropy",)
    with pytest.raises(CannotRun, match="two values"):
        with_encoding(base, "", "zero-one", None, None, "")


def test_labels_with_gaps_in_them_are_refused():
    y = np.arange(8, dtype=np.float32)
    y[2] = np.nan
    with pytest.raises(CannotRun, match="NaN"):
        with_encoding(setup(y=(y,), y_val=()), "", "one-hot", None, None, "")


def test_units_are_read_off_the_last_layer_with_some():
    assert output_units(setup(), 0) == 3
    assert output_units(setup(dense("out", 7), entry("Activation", "last", activation="softmax")), 0) == 7
    assert output_units(setup(config=None), 0) is None


def test_a_shape_that_does_not_fit_is_refused():
    assert reshaped(setup(), "", (1,)).y[0].shape == (8, 1)
    with pytest.raises(CannotRun, match="expected to fit"):
        reshaped(setup(), "", (5,))
