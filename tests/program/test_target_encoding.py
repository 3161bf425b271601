"""Targets follow the loss: class numbers, one-hot rows, 0 and 1, of training and validation rows alike."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.errors import CannotRun
from stethoscope.program.target_encoding import (
    fitted_to,
    one_hot,
    output_index,
    output_units,
    reshaped,
    with_encoding,
    with_loss,
)
from tests.checks.fixes.setups import dense, entry, sequential, setup
from tests.tables import each

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


@each(
    ("loss", "units", "y", "held", "expected", "expected_held"),
    [
        ("sparse_categorical_crossentropy", 3, HOT, HOT[:1], [0, 1, 2], [0]),
        ("categorical_crossentropy", 3, HOT, HOT[:1], HOT, HOT[:1]),
        ("categorical_crossentropy", 4, np.array([0, 2]), None, np.eye(4)[[0, 2]], None),
        ("binary_crossentropy", 3, np.array([0, 2, 1]), None, HOT[[0, 2, 1]], None),
        ("binary_crossentropy", 1, HOT[:2, :2], HOT[1:2, :2], [[0], [1]], [[1]]),
        ("binary_crossentropy", 1, np.array([3, 7, 3]), None, [0, 1, 0], None),
        ("mean_squared_error", 1, HOT, HOT[2:], [[0], [1], [2]], [[2]]),
        ("mean_squared_error", 3, HOT, None, HOT, None),
        ("categorical_crossentropy", 2, np.array(["cat", "dog"]), None, ["cat", "dog"], None),
    ],
)
def test_targets_become_what_the_loss_reads(loss, units, y, held, expected, expected_held):
    found, found_held = fitted_to(loss, units, y, held)
    np.testing.assert_array_equal(found, expected)
    if expected_held is None:
        assert found_held is None
    else:
        np.testing.assert_array_equal(found_held, expected_held)


def test_an_output_that_is_not_there_is_refused_with_those_that_are():
    several = setup(y=(np.zeros(8), np.zeros(8)), outputs=("kind", "size"))
    assert [output_index(several, name) for name in ("", "size")] == [0, 1]
    with pytest.raises(CannotRun, match=r"expected one of \['kind', 'size'\]"):
        output_index(several, "colour")
    assert output_index(setup(), "another name") == 0


def test_quantities_are_not_taken_for_classes():
    with pytest.raises(CannotRun, match="20,000 different values"):
        one_hot(np.arange(20_000), None, None)


def test_one_hot_rows_that_would_not_fit_memory_are_refused():
    with pytest.raises(CannotRun, match="a sparse loss"):
        one_hot(np.arange(10_000).repeat(3), None, None)


def test_no_targets_are_refused():
    with pytest.raises(CannotRun, match="Give data with y"):
        with_loss(setup(y=(), y_val=()), "", "categorical_crossentropy", False)


def functional(*entries):
    """A Functional model in which each layer reads the one before; the last is the only output."""
    config = sequential(*entries)
    names = [one["config"]["name"] for one in config["config"]["layers"]]
    linked = []
    for place, one in enumerate(config["config"]["layers"]):
        call = {"args": [{"class_name": "__keras_tensor__", "config": {"keras_history": [names[place - 1], 0, 0]}}]}
        linked.append({**one, "name": names[place], "inbound_nodes": [call] if place else []})
    ends = {"input_layers": [[names[0], 0, 0]], "output_layers": [[names[-1], 0, 0]]}
    return {**config, "class_name": "Functional", "config": {"name": "functional", "layers": linked, **ends}}


def test_units_of_a_functional_output_are_those_of_the_nearest_layer_with_some():
    base = setup(config=functional(dense("hidden", 8), dense("out", 5), entry("Softmax", "last")))
    assert output_units(base, 0) == 5
    assert output_units(setup(config=functional(entry("Softmax", "last"))), 0) is None
    assert output_units(setup(sequential(dense("inner", 9))), 0) is None
