"""A model's inputs as one table for simple models, and what the simple models make of it."""

from __future__ import annotations

import numpy as np

from stethoscope.tasks.baseline import MAX_COLUMNS, MAX_VOCABULARY, table_of
from stethoscope.training.gathering.plain_models import Fitted, fit_baselines
from stethoscope.training.skill import TargetScale
from stethoscope.types import Architecture, Layer, TensorSpec
from tests.tables import each

ARCHITECTURE = Architecture(
    "keras",
    "",
    0,
    0,
    (TensorSpec("words", (None, 3), "int32"),),
    (),
    (
        Layer("words", "InputLayer", (None, 3), 0, 0, "int32"),
        Layer("embedding", "Embedding", (None, 3, 4), 80, 80, "float32", ("words",), {"input_dim": 20}),
    ),
)
PLAIN = Architecture("keras", "", 0, 0, (TensorSpec("x", (None, 3), "float32"),), (), ())


def test_numbers_of_words_become_counts():
    words = np.array([[5, 5, 9], [9, 0, 9], [0, 5, 0]])
    table, notes = table_of({"words": words}, ARCHITECTURE, np.array([0, 1]))
    # Columns are 0, 5 and 9.
    assert table.tolist() == [[0, 2, 1], [1, 0, 2]] and "as counts" in notes[0]
    as_floats, _ = table_of({"words": words.astype(np.float32)}, ARCHITECTURE, np.array([0, 1]))
    assert as_floats.tolist() == table.tolist()


def test_only_the_most_frequent_words_are_counted():
    rare = np.arange(3 * MAX_VOCABULARY).reshape(-1, 3) + 10
    words = np.concatenate([np.full((4, 3), 7), rare])
    table, _ = table_of({"words": words}, ARCHITECTURE, np.arange(len(words)))
    assert table.shape == (len(words), MAX_VOCABULARY)
    assert (table[:4].sum(axis=1) == 3).all() and set(table[4:].sum(axis=1)) == {0, 3}


def test_texts_become_hashed_counts_of_words():
    texts = np.array(["the cat sat", "sat the cat", "a dog"])
    table, notes = table_of({"x": texts}, PLAIN, np.arange(3))
    assert table.shape == (3, MAX_VOCABULARY) and "hashed counts" in notes[0]
    assert np.array_equal(table[0], table[1]) and not np.array_equal(table[0], table[2])
    as_bytes, _ = table_of({"x": texts.astype("S")}, PLAIN, np.arange(3))
    assert np.array_equal(as_bytes, table)


@each(
    ("shape", "columns"),
    [((5, 20), 20), ((5, 5_000), MAX_COLUMNS), ((5, 100, 100), MAX_COLUMNS), ((5, 1, 4_000, 1), MAX_COLUMNS)],
)
def test_wide_rows_are_thinned_evenly(shape, columns):
    values = np.broadcast_to(np.arange(np.prod(shape[1:])).reshape(shape[1:]), shape)
    table, notes = table_of({"x": values}, PLAIN, np.arange(5))
    assert table.shape == (5, columns) and bool(notes) is (columns == MAX_COLUMNS)
    assert table[0, 0] == 0 and table[0, -1] == np.prod(shape[1:]) - 1
    assert len(set(np.diff(table[0]))) <= 2


def test_what_simple_models_cannot_use_is_named():
    table, notes = table_of({"x": np.zeros((5, 2), complex)}, PLAIN, np.arange(4))
    assert table.shape == (4, 0) and "complex128" in notes[0]


RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(200, 3))
SCALES = {
    "class-numbers": (TargetScale("class-numbers", (0.0, 1.0, 2.0)), RANDOM.integers(0, 3, 200)),
    "multi-hot": (TargetScale("multi-hot", (0.0, 1.0)), (X[:, [0] * 12] > np.linspace(-1, 1, 12)).astype(float)),
    "numbers": (TargetScale("numbers"), X @ RANDOM.normal(size=(3, 5))),
}


def fitted(kind: str, x: np.ndarray, time_s: float = 5.0) -> tuple[dict[str, np.ndarray], list[str]]:
    scale, y = SCALES[kind]
    found = list(fit_baselines(scale, x[:150], y[:150], x[150:], time_s))
    return {one.model: one.predictions for one in found if isinstance(one, Fitted)}, [
        one for one in found if isinstance(one, str)
    ]


@each(("kind", "name"), [("class-numbers", "majority class"), ("multi-hot", "majority class"), ("numbers", "mean")])
def test_without_columns_only_the_commonest_answer_is_left(kind, name):
    models, _ = fitted(kind, X[:, :0])
    assert list(models) == [name]


def test_many_labels_get_one_linear_model_and_no_trees():
    models, notes = fitted("multi-hot", X)
    truth = SCALES["multi-hot"][1][150:]
    assert list(models) == ["majority class", "linear regression"] and "12 labels" in notes[0]
    assert (models["linear regression"] == truth).mean() > 0.85 > (models["majority class"] == truth).mean()


def test_many_numbers_get_no_trees_and_a_plane_is_found():
    models, notes = fitted("numbers", X)
    assert list(models) == ["mean", "linear regression"] and "5 values to predict" in notes[0]
    np.testing.assert_allclose(models["linear regression"], SCALES["numbers"][1][150:], atol=0.2)


def test_without_time_trees_are_left_out_and_it_is_said():
    models, notes = fitted("class-numbers", X, time_s=0.0)
    assert "gradient boosting" not in models and "time was left" in notes[-1]
