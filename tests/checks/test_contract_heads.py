"""Loss, activation and task against each other: one card for each cause, silence for what goes together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from stethoscope.evidence.kinds import EvidenceSet
from stethoscope.types import Layer
from tests.checks.contract_evidence import BINARY, CLASSES, NUMBERS, ONE_HOT, SHARES, TAGS, X, evidence, found, named
from tests.tables import each

CCE, SCCE, BCE, MSE = "categorical_crossentropy", "sparse_categorical_crossentropy", "binary_crossentropy", "mse"
COUNTS = np.random.default_rng(1).poisson(3, 120)

SOUND: dict[str, EvidenceSet] = {
    "softmax(2), one-hot": evidence(2, "softmax", CCE, np.eye(2)[BINARY.astype(int)], metrics=["accuracy"]),
    "softmax(2), class numbers": evidence(2, "softmax", SCCE, BINARY.astype(int), metrics=["accuracy"]),
    "softmax(3), one-hot": evidence(3, "softmax", CCE, ONE_HOT, metrics=["accuracy"]),
    "softmax(3), label smoothing": evidence(3, "softmax", CCE, 0.9 * ONE_HOT + 0.1 / 3),
    "softmax(3), distribution, KL": evidence(3, "softmax", "kl_divergence", 0.9 * ONE_HOT + 0.1 / 3),
    "softmax(3), column of numbers": evidence(3, "softmax", SCCE, CLASSES[:, None], metrics=["accuracy"]),
    "softmax(3), floats": evidence(3, "softmax", SCCE, CLASSES.astype("float32")),
    "sigmoid(1)": evidence(1, "sigmoid", BCE, BINARY, metrics=["accuracy", "auc"]),
    "sigmoid(1), column": evidence(1, "sigmoid", BCE, BINARY[:, None]),
    "sigmoid(1), soft labels": evidence(1, "sigmoid", BCE, SHARES),
    "sigmoid(1), smoothed labels": evidence(1, "sigmoid", BCE, 0.9 * BINARY + 0.05),
    "sigmoid tags": evidence(3, "sigmoid", BCE, TAGS, metrics=["binary_accuracy"]),
    "logits tags": evidence(3, "linear", BCE, TAGS, from_logits=True),
    "logits yes or no": evidence(1, "linear", BCE, BINARY, from_logits=True),
    "logits classes": evidence(3, "linear", SCCE, CLASSES, from_logits=True, metrics=["accuracy"]),
    "log_softmax as logits": evidence(3, "log_softmax", SCCE, CLASSES, from_logits=True),
    "number": evidence(1, "linear", MSE, NUMBERS, metrics=["mae"]),
    "numbers": evidence(2, "linear", MSE, X[:, :2] * 2 + 1),
    "count, linear": evidence(1, "linear", MSE, COUNTS),
    "count, Poisson": evidence(1, "exponential", "poisson", COUNTS),
    "ratings": evidence(1, "linear", "mae", CLASSES + 1, metrics=["mae"]),
    "share behind sigmoid": evidence(1, "sigmoid", MSE, SHARES),
    "positive behind relu": evidence(1, "relu", MSE, np.abs(NUMBERS)),
    "−1/1 hinge": evidence(1, "tanh", "hinge", 2 * BINARY - 1),
    "−1/1 tanh squared": evidence(1, "tanh", MSE, 2 * BINARY - 1),
    "autoencoder": evidence(4, "linear", MSE, X),
    "autoencoder 0/1": evidence(4, "sigmoid", BCE, (X > 0).astype("float32"), x=(X > 0).astype("float32")),
    "autoencoder 0/1 squared": evidence(4, "sigmoid", MSE, (X > 0).astype("float32"), x=(X > 0).astype("float32")),
    "one-hot, one-vs-rest": evidence(3, "sigmoid", BCE, ONE_HOT),
    "tokens in a sequence": evidence(
        9, "softmax", SCCE, np.arange(600).reshape(120, 5) % 9, x=X, output=(5, 9), metrics=["accuracy"]
    ),
    "no targets": evidence(3, "softmax", CCE, None, metrics=["accuracy"]),
}


@each("name", SOUND)
def test_what_goes_together_is_silent(name: str) -> None:
    assert named(SOUND[name]) == {}


UNSOUND: dict[str, tuple[EvidenceSet, dict[str, str]]] = {
    "softmax(1)": (evidence(1, "softmax", BCE, BINARY), {"softmax-one-unit": "critical"}),
    "softmax(1) for classes": (evidence(1, "softmax", SCCE, CLASSES), {"softmax-one-unit": "critical"}),
    "scores, categorical": (evidence(3, "linear", CCE, ONE_HOT), {"output-activation-loss": "high"}),
    "scores, sparse, learns nothing": (
        evidence(3, "linear", SCCE, CLASSES, skill=0.0),
        {"output-activation-loss": "critical"},
    ),
    "scores, binary, learns well": (
        evidence(1, "linear", BCE, BINARY, skill=0.97),
        {"output-activation-loss": "medium"},
    ),
    "relu": (evidence(3, "relu", CCE, ONE_HOT), {"output-activation-loss": "high"}),
    "tanh": (evidence(1, "tanh", BCE, BINARY), {"output-activation-loss": "high"}),
    "sigmoid, categorical": (evidence(3, "sigmoid", CCE, ONE_HOT), {"output-activation-loss": "medium"}),
    "relu as logits": (evidence(3, "relu", SCCE, CLASSES, from_logits=True), {"output-activation-loss": "medium"}),
    "scores, Poisson": (evidence(1, "linear", "poisson", COUNTS), {"output-activation-loss": "high"}),
    "sigmoid, hinge": (evidence(1, "sigmoid", "hinge", BINARY), {"output-activation-loss": "medium"}),
    "scores, squared": (
        evidence(3, "linear", MSE, ONE_HOT),
        {"output-activation-loss": "medium", "loss-for-task": "medium"},
    ),
    "softmax and logits": (evidence(3, "softmax", SCCE, CLASSES, from_logits=True), {"from-logits": "medium"}),
    "softmax, squared": (evidence(3, "softmax", MSE, ONE_HOT), {"loss-for-task": "medium"}),
    "softmax, squared, learns nothing": (evidence(3, "softmax", MSE, ONE_HOT, skill=0.0), {"loss-for-task": "high"}),
    "softmax, binary": (evidence(3, "softmax", BCE, ONE_HOT), {"loss-for-task": "medium"}),
    "softmax, binary, no targets": (evidence(3, "softmax", BCE, None), {"loss-for-task": "medium"}),
    "sigmoid, squared": (evidence(1, "sigmoid", MSE, BINARY), {"loss-for-task": "medium"}),
    "sigmoid(1), categorical": (evidence(1, "sigmoid", CCE, BINARY), {"loss-for-task": "critical"}),
    "sigmoid(1), sparse": (evidence(1, "sigmoid", SCCE, BINARY.astype(int)), {"loss-for-task": "critical"}),
    "three classes, one sigmoid": (evidence(1, "sigmoid", BCE, CLASSES), {"loss-for-task": "high"}),
    "class numbers, squared": (evidence(3, "softmax", MSE, CLASSES), {"loss-for-task": "critical"}),
    "class numbers, binary": (evidence(3, "softmax", BCE, CLASSES), {"loss-for-task": "critical"}),
    "tags, categorical": (evidence(3, "sigmoid", CCE, TAGS), {"loss-for-task": "high"}),
    "tags, sparse": (evidence(3, "sigmoid", SCCE, TAGS), {"loss-for-task": "critical"}),
    "tags, softmax": (evidence(3, "softmax", BCE, TAGS), {"multilabel-softmax": "high"}),
    "tags, softmax, squared": (
        evidence(3, "softmax", MSE, TAGS),
        {"multilabel-softmax": "high", "loss-for-task": "medium"},
    ),
    "numbers, binary": (evidence(1, "linear", BCE, NUMBERS), {"loss-for-task": "high"}),
    "numbers, hinge": (evidence(1, "linear", "hinge", NUMBERS), {"loss-for-task": "high"}),
    "negative, MSLE": (evidence(1, "linear", "msle", NUMBERS), {"loss-for-task": "high"}),
    "zeros, percentage": (evidence(1, "linear", "mape", np.maximum(NUMBERS, 0)), {"loss-for-task": "medium"}),
    "numbers behind relu": (evidence(1, "relu", MSE, NUMBERS), {"output-range": "high"}),
    "prices behind sigmoid": (evidence(1, "sigmoid", MSE, 300 + 40 * NUMBERS), {"output-range": "critical"}),
    "numbers behind softmax": (evidence(3, "softmax", MSE, X[:, :3] * 5), {"output-range": "high"}),
    "ratings behind sigmoid": (evidence(1, "sigmoid", MSE, CLASSES), {"output-range": "high"}),
}


@each("name", UNSOUND)
def test_what_does_not_is_named_once(name: str) -> None:
    known, expected = UNSOUND[name]

    assert named(known) == expected


def test_fix_for_three_classes_on_one_sigmoid_is_a_whole_head() -> None:
    (finding,) = found(UNSOUND["three classes, one sigmoid"][0])

    assert finding.fix is not None
    assert finding.fix.to_json()["params"] | {"was": "", "output": ""} == {
        "layer": "output",
        "units": 3,
        "activation": "softmax",
        "loss": SCCE,
        "was": "",
        "output": "",
        "layer_type": "Dense",
    }
    assert "3 classes" in finding.message


def test_pixels_behind_sigmoid_are_to_be_divided() -> None:
    pixels = np.random.default_rng(2).integers(0, 256, (120, 16)).astype("float32")

    (finding,) = [f for f in found(evidence(16, "sigmoid", BCE, pixels, x=pixels)) if f.severity >= 2]

    assert (finding.check_id, finding.fault) == ("output-range", "preprocessing")
    assert finding.fix is not None and "255" in finding.fix.code()


def test_softmax_moved_by_a_reshape_is_applied_twice() -> None:
    after = (Layer("reshape", "Reshape", (None, 3), 0, 0, "float32", ("output",)),)

    (finding,) = found(evidence(3, "softmax", SCCE, CLASSES, from_logits=True, after=after))

    assert "applied twice" in finding.message


@pytest.mark.parametrize("last", ["Lambda", "Concatenate", "MyLayer"])
def test_unknown_last_layers_are_not_judged(last: str) -> None:
    after = (Layer("last", last, (None, 1), 0, 0, "float32", ("output",)),)

    assert named(evidence(1, "tanh", MSE, 300 + NUMBERS, after=after)) == {}


def test_ratings_with_accuracy_are_said_to_look_like_classes() -> None:
    known = evidence(1, "linear", MSE, CLASSES, metrics=["accuracy"])

    assert named(known) == {"loss-for-task": "medium", "metric-for-task": "medium"}
    assert any(f.fix is not None and "3 units with softmax" in f.fix.summary for f in found(known))


def test_without_architecture_or_data_nothing_is_claimed() -> None:
    known: Any = EvidenceSet()

    assert found(known) == []
