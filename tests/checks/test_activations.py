"""What checks say of an activation, held against what Keras computes with it."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.architecture.activations import ACTIVATION_LAYERS, ACTIVATIONS
from stethoscope.checks import all_checks
from stethoscope.checks.findings import Severity
from stethoscope.checks.fixes.layers import ReplaceActivation, ReplaceHead
from stethoscope.checks.judging.examination import examine
from stethoscope.evidence.heads import heads_of
from stethoscope.evidence.kinds import EvidenceSet
from stethoscope.evidence.model import connections_of
from stethoscope.training.gathering.few_samples import random_targets
from tests.checks.architectures import architecture, bias, layer, points, tensor, weights
from tests.checks.contract_evidence import BINARY, CLASSES, NUMBERS, evidence, named
from tests.frameworks import keras, layers, tf, tf_keras
from tests.tables import each

LEARNED = ("prelu", "thresholded_relu")
"""Layers of Keras, not functions."""
ONE_BY_ONE = tuple(sorted(ACTIVATIONS.keys() - {*LEARNED, "linear", "softmax", "log_softmax", "sparsemax"}))
X = np.linspace(-20, 20, 4_001)


def found(check_id, **known):
    (outcome,) = examine(EvidenceSet(**known), [all_checks()[check_id]])
    return outcome.findings


def dense(path, activation, units=16, **config):
    return layer(path, "Dense", (None, units), units=units, activation=activation, **config)


def computed(name, x):
    return np.asarray(keras.activations.get(name)(x), np.float64)


def doubled(first, second, kind="Activation"):
    net = architecture(
        layer("columns", "InputLayer", (None, 8)),
        dense("kind", first, 3),
        layer("again", kind, (None, 3), activation=second),
    )
    return found("doubled-activation", architecture=net)


def test_a_second_activation_that_changes_nothing_is_told_from_one_that_does():
    for first in ONE_BY_ONE:
        y = computed(first, X)
        for second in ONE_BY_ONE:
            same = computed(second, y) == pytest.approx(y, abs=1e-6)
            twice = first == second and first in ("leaky_relu", "elu", "celu")  # next to nothing
            if (first, second) == ("softplus", "tanh"):
                assert doubled(first, second) == ()  # Mish, written out
                continue
            (finding,) = doubled(first, second)
            said = "changes nothing" in finding.message
            assert not said or ((same or twice) and finding.severity == Severity.LOW), (first, second)
            assert said or not same or second not in ("relu", "leaky_relu", "elu", "relu6"), (first, second)
    assert computed("celu", X) == pytest.approx(computed("elu", X))
    learned = keras.layers.PReLU(alpha_initializer="random_uniform")
    for first in ("relu", "sigmoid", "hard_sigmoid", "softplus"):
        y = computed(first, X[:, None])
        assert np.asarray(learned(y)) == pytest.approx(y, abs=1e-6)
        assert "changes nothing" in doubled(first, "prelu", "PReLU")[0].message


@each("bounded", ["hard_tanh", "softsign", "sparse_sigmoid"])
def test_what_is_bounded_on_both_sides_flattens_what_went_in(bounded):
    assert np.ptp(computed(bounded, computed("relu", X))) < 1.01 and np.abs(computed(bounded, X)).max() <= 1
    (finding,) = doubled("relu", bounded)
    assert (finding.severity, finding.fix.activation) == (Severity.MEDIUM, "linear")


def test_a_threshold_behind_an_activation_is_left_alone():
    net = architecture(
        layer("columns", "InputLayer", (None, 8)),
        dense("kind", "relu", 3),
        layer("cut", "ThresholdedReLU", (None, 3), theta=1.0),
    )
    assert found("doubled-activation", architecture=net) == ()


@each(
    ("activation", "named"),
    [
        ("relu6", False),  # what it puts out, and with it the state, stays within 6
        ("hard_tanh", False),
        ("softsign", False),
        ("relu", True),
        ("mish", True),
        ("celu", True),
        ("hard_silu", True),
        ("leaky_relu", True),
    ],
)
def test_a_state_that_can_grow_is_named(activation, named):
    memory = layer("memory", "SimpleRNN", (None, 16), units=16, activation=activation)
    findings = found("recurrent-activation", architecture=points(memory))
    assert bool(findings) == named
    cell = keras.layers.SimpleRNN(1, activation=activation)
    cell.build((1, 100, 1))
    cell.set_weights([np.array([[1.0]]), np.array([[1.5]]), np.array([0.0])])
    state = np.asarray(cell(np.ones((1, 100, 1), np.float32)))
    assert bool(np.abs(state).max() > 1e3) == named


@each("gates", ["sigmoid", "hard_sigmoid", "sparse_sigmoid"])
def test_gates_that_open_and_close_are_left_alone(gates):
    assert (computed(gates, X).min(), computed(gates, X).max()) == pytest.approx((0, 1), abs=1e-6)
    memory = layer("memory", "LSTM", (None, 16), units=16, activation="tanh", recurrent_activation=gates)
    assert found("recurrent-activation", architecture=points(memory)) == ()


@each(
    ("activation", "kernel"),
    [
        ("relu", "he_normal"),
        ("relu6", "he_normal"),
        ("leaky_relu", "he_normal"),
        ("elu", "he_normal"),
        ("celu", "he_normal"),
        ("tanh", "glorot_uniform"),
        ("sigmoid", "glorot_uniform"),
    ],
)
def test_equal_units_get_the_weights_that_suit_the_activation(activation, kernel):
    zeros = {"kernel_initializer": {"class_name": "Zeros", "config": {}}}
    (finding,) = found("constant-initialisation", architecture=points(dense("hidden", activation, **zeros)))
    assert finding.fix.kernel == kernel
    # How far the mean square has gone from 1 after eight layers: with He's weights a rectifier stays nearer.
    left = {}
    for name in ("he_normal", "glorot_uniform"):
        keras.utils.set_random_seed(0)
        x = np.random.default_rng(0).standard_normal((64, 256)).astype(np.float32)
        for _ in range(8):
            x = np.asarray(layers.Dense(256, activation=activation, kernel_initializer=name)(x))
        left[name] = abs(np.log(np.mean(x * x)))
    assert kernel != "he_normal" or left["he_normal"] < left["glorot_uniform"]


def test_weights_of_rectifiers_that_start_too_large():
    normal = {"kernel_initializer": {"class_name": "RandomNormal", "config": {"mean": 0.0, "stddev": 1.0}}}
    start = weights(tensor("hidden", shape=(784, 16), std=1.0), bias("hidden"))
    for activation, kernel in {"celu": "he_normal", "elu": "he_normal", "tanh": "glorot_uniform"}.items():
        net = architecture(
            layer("pixels", "InputLayer", (None, 784)),
            dense("hidden", activation, **normal),
            dense("kind", "softmax", 3),
        )
        (finding,) = found("initialiser-scale", architecture=net, weights=start)
        assert kernel in str(finding.fix.to_json()), activation


@each("activation", ["sigmoid", "tanh", "hard_sigmoid", "hard_tanh"])
def test_a_bias_on_a_flat_end(activation):
    x = tf.constant([-5.0, 5.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = keras.activations.get(activation)(x)
    assert np.abs(tape.gradient(y, x).numpy()).max() < 0.007
    net = points(dense("hidden", activation))
    (finding,) = found("output-bias", architecture=net, weights=weights(bias("hidden", -8.0)))
    assert f"{activation} is flat there" in finding.message


def test_nothing_but_activations_stands_before_the_output():
    for kind in sorted(ACTIVATION_LAYERS):
        made = getattr(tf_keras.layers, kind)
        assert not made(**({"activation": "tanh"} if kind == "Activation" else {})).weights or kind == "PReLU"
        net = architecture(
            layer("columns", "InputLayer", (None, 8)), dense("kind", "sigmoid", 3), layer("end", kind, (None, 3))
        )
        assert connections_of(net).leads_to_output("kind"), kind


@each("activation", ["sigmoid", "hard_sigmoid"])
def test_a_head_from_0_to_1_is_one_of_classes(activation):
    y = computed(activation, X)
    assert y.min() >= 0 and y.max() <= 1
    (regresses,) = heads_of(evidence(1, activation, "mse", None).architecture, None, None)
    assert regresses.task == "unknown"
    (numbered,) = evidence(1, activation, "mse", CLASSES).heads
    assert numbered.task == "multiclass"
    assert evidence(1, activation, "mse", NUMBERS).heads[0].task == "regression"
    assert named(evidence(1, activation, "binary_crossentropy", BINARY)) == {}


@each("activation", ONE_BY_ONE)
def test_losses_that_need_a_sign(activation):
    lowest = float(computed(activation, X).min())
    counts = np.random.default_rng(1).poisson(3, len(BINARY))
    poisson = named(evidence(1, activation, "poisson", counts))
    assert ("output-activation-loss" in poisson) == (lowest < 0)
    hinge = named(evidence(1, activation, "hinge", 2 * BINARY - 1))
    assert ("output-activation-loss" in hinge) == (lowest >= 0)


@each("activation", ONE_BY_ONE)
def test_targets_drawn_at_random_can_be_reached(activation):
    known = evidence(1, activation, "mse", None)
    (targets,) = random_targets(known.architecture, {"y": np.zeros((200, 1), np.float32)}, "mse").values()
    y = computed(activation, np.linspace(-300, 300, 60_001))
    bounded = np.abs(y).max() <= 1.01 or y.min() >= 0
    assert not bounded or (targets.min() >= y.min() - 1e-3 and targets.max() <= y.max() + 1e-3)


def test_an_activation_layer_is_replaced_by_a_line_that_works():
    x = np.array([[-2.0, 0.5, 3.0]], np.float32)
    wanted = np.asarray(keras.activations.leaky_relu(x))
    for kind in sorted(ACTIVATION_LAYERS):
        code = ReplaceActivation("act", "leaky_relu", layer_type=kind).code()
        made = eval(code.splitlines()[-1], {"layers": layers})
        assert np.asarray(made(x)) == pytest.approx(wanted), kind
    # What was printed before for a threshold changes nothing: its layer asks no `activation`.
    threshold = tf_keras.layers.ThresholdedReLU(theta=1.0)
    threshold.activation = tf_keras.activations.get("relu")
    assert np.asarray(threshold(x)).tolist() == [[0, 0, 3]]


@each("activation", ["softmax", "linear", "sigmoid"])
def test_a_head_behind_an_activation_layer_is_a_dense_layer(activation):
    for kind in ("", "Dense", *sorted(ACTIVATION_LAYERS)):
        code = ReplaceHead("out", 3, activation, "mean_squared_error", layer_type=kind).code()
        line = next(line for line in code.splitlines() if line.startswith("layers."))
        made = eval(line, {"layers": layers})
        config = made.get_config()
        assert isinstance(made, keras.layers.Dense)
        assert (config["units"], config["activation"], config["name"]) == (3, activation, "out")
