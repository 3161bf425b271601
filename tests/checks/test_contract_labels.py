"""Labels, shapes, inputs and metrics against the model, also where `fit` would stop."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from stethoscope.evidence.kinds import EvidenceSet
from stethoscope.types import Layer, TensorSpec
from tests.checks.contract_evidence import (
    BINARY,
    CLASSES,
    NUMBERS,
    ONE_HOT,
    ROWS,
    TAGS,
    X,
    evidence,
    found,
    named,
    trained,
)
from tests.tables import each

CCE, SCCE, BCE, MSE = "categorical_crossentropy", "sparse_categorical_crossentropy", "binary_crossentropy", "mse"

CASES: dict[str, tuple[EvidenceSet, dict[str, str]]] = {
    "one-hot, sparse": (evidence(3, "softmax", SCCE, ONE_HOT), {"label-encoding": "critical"}),
    "class numbers, categorical": (evidence(3, "softmax", CCE, CLASSES), {"label-encoding": "critical"}),
    "divided labels": (
        evidence(10, "softmax", SCCE, (np.arange(ROWS) % 10 / 255).astype("float32"), metrics=["accuracy"]),
        {"label-encoding": "critical"},
    ),
    "−1/1 for sigmoid": (evidence(1, "sigmoid", BCE, 2 * BINARY - 1), {"label-encoding": "high"}),
    "1/2 for sigmoid": (evidence(1, "sigmoid", BCE, BINARY + 1), {"label-encoding": "high"}),
    "0/255 for sigmoid": (evidence(1, "sigmoid", MSE, 255 * BINARY), {"label-encoding": "high"}),
    "one-hot of 0/255": (evidence(3, "softmax", CCE, 255 * ONE_HOT), {"label-encoding": "high"}),
    "text": (evidence(3, "softmax", SCCE, np.array(["a", "b", "c"])[CLASSES]), {"label-encoding": "critical"}),
    "from 1": (evidence(3, "softmax", SCCE, CLASSES + 1), {"label-range": "critical"}),
    "from −1": (evidence(3, "softmax", SCCE, CLASSES - 1), {"label-range": "critical"}),
    "with gaps": (evidence(3, "softmax", SCCE, CLASSES * 5), {"label-range": "critical"}),
    "too few units": (evidence(2, "softmax", SCCE, CLASSES), {"output-units": "critical"}),
    "far too many units": (evidence(1000, "softmax", SCCE, CLASSES), {"output-units": "medium"}),
    "two sigmoids, one label": (evidence(2, "sigmoid", BCE, BINARY), {"output-units": "critical"}),
    "one-hot of 3, 4 units": (evidence(4, "softmax", CCE, ONE_HOT), {"output-units": "critical"}),
    "two numbers, one unit": (evidence(1, "linear", MSE, X[:, :2] * 3), {"output-units": "high"}),
    "one number, two units": (evidence(2, "linear", MSE, NUMBERS), {"output-units": "critical"}),
    "one number in a column, two units": (evidence(2, "linear", MSE, NUMBERS[:, None]), {"output-units": "medium"}),
    "targets of two axes": (
        evidence(1, "linear", MSE, np.repeat(NUMBERS[:, None, None], 6, 1)),
        {"label-shape": "high"},
    ),
    "rows differ": (evidence(1, "linear", MSE, NUMBERS[:100]), {"label-shape": "critical"}),
    "accuracy of numbers": (evidence(1, "linear", MSE, NUMBERS, metrics=["accuracy"]), {"metric-for-task": "medium"}),
    "accuracy of tags": (evidence(3, "sigmoid", BCE, TAGS, metrics=["accuracy"]), {"metric-for-task": "medium"}),
    "binary accuracy of classes": (
        evidence(3, "softmax", CCE, ONE_HOT, metrics=["binary_accuracy"]),
        {"metric-for-task": "medium"},
    ),
    "precision of class numbers": (
        evidence(3, "softmax", SCCE, CLASSES, metrics=["Precision"]),
        {"metric-for-task": "critical"},
    ),
    "accuracy of −1/1": (evidence(1, "tanh", MSE, 2 * BINARY - 1, metrics=["accuracy"]), {"metric-for-task": "medium"}),
    "features": (evidence(1, "linear", MSE, NUMBERS, declared=(3,)), {"input-shape": "critical"}),
}


@each("name", CASES)
def test_each_is_named_once(name: str) -> None:
    known, expected = CASES[name]

    assert named(known) == expected


def test_spare_units_and_labels_from_one_with_a_spare_unit_are_remarks() -> None:
    assert named(evidence(5, "softmax", SCCE, CLASSES)) == {}
    assert named(evidence(4, "softmax", SCCE, CLASSES + 1)) == {}


def test_divided_labels_are_multiplied_back() -> None:
    (finding,) = found(CASES["divided labels"][0])

    assert "255" in finding.message and finding.fix is not None and "* 255" in finding.fix.code()


@each(
    ("given", "declared", "says"),
    [
        ((3, 32, 32), (32, 32, 3), "moveaxis"),
        ((784,), (28, 28, 1), "reshape"),
        ((28, 28, 1), (28, 28, 3), "1 channels"),
        ((5, 1), (1, 5), "transpose"),
        ((32, 32, 3), (28, 28, 3), "resize"),
        ((28, 28), (28, 28, 1), ""),
        ((28, 28, 1), (28, 28), ""),
        ((40, 3), (None, 3), ""),
    ],
)
def test_input_shapes(given: tuple[int, ...], declared: tuple[int | None, ...], says: str) -> None:
    x = np.random.default_rng(0).normal(size=(ROWS, *given)).astype("float32")
    messages = [f.message for f in found(evidence(1, "linear", MSE, NUMBERS, x=x, declared=declared))]

    assert bool(messages) == bool(says)
    assert all(says in message for message in messages)


@each(
    ("x", "severity"),
    [
        (np.arange(ROWS * 4).reshape(ROWS, 4) % 20, None),
        (np.arange(ROWS * 4).reshape(ROWS, 4) % 50, "critical"),
        (np.arange(ROWS * 4).reshape(ROWS, 4) % 20 - 5, "high"),
        (X / 10, "high"),
    ],
)
def test_embedding(x: np.ndarray, severity: str | None) -> None:
    known = evidence(1, "linear", MSE, NUMBERS, x=x)
    assert known.architecture is not None
    layers = list(known.architecture.layers)
    layers[1] = Layer("table", "Embedding", (None, 4, 8), 160, 160, "float32", ("input",), {"input_dim": 20})
    layers[2] = replace(layers[2], inputs=("table",))
    known = replace(known, architecture=replace(known.architecture, layers=tuple(layers)))

    assert named(known).get("embedding-range") == severity


def test_sequence_output_for_one_target_a_row() -> None:
    known = evidence(1, "linear", MSE, NUMBERS)
    assert known.architecture is not None
    gru = Layer("output", "GRU", (None, 6, 1), 9, 9, "float32", ("hidden",), {"activation": "tanh"})
    architecture = replace(
        known.architecture,
        layers=(*known.architecture.layers[:2], gru),
        outputs=(TensorSpec("y", (None, 6, 1), "float32"),),
    )
    (finding,) = [f for f in found(replace(known, architecture=architecture)) if f.check_id == "label-shape"]

    assert finding.fault == "architecture" and "return_sequences" in finding.message


@each(("first", "severity"), [(1.2, None), (4.0, "low"), (40.0, "medium"), (0.1, "low")])
def test_first_loss(first: float, severity: str | None) -> None:
    known = evidence(3, "softmax", SCCE, CLASSES)
    known = replace(known, training=trained(0.5, initial_loss=first, expected_initial_loss=float(np.log(3))))

    assert [f.severity.label for f in found(known)] == ([severity] if severity else [])
