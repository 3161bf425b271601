"""One place says what each activation is: it agrees with Keras, and the other rooms ask it."""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from stethoscope.architecture.activations import (
    ACTIVATION_LAYERS,
    ACTIVATIONS,
    BOUNDED,
    CAN_DIE,
    GATES,
    LINEAR,
    NEVER_NEGATIVE,
    RECTIFIERS,
    SQUASHING,
    UNBOUNDED,
    Trait,
    known,
)
from stethoscope.architecture.formulas import FORMS, named_function
from stethoscope.architecture.layer_kinds import Kind, kind_of, reads_input, reads_output
from stethoscope.architecture.losses import CLASSIFICATION_LOSSES, LOGITS_LOSSES, REGRESSION_LOSSES, loss_class
from tests.frameworks import keras, tf, tf_keras

ROOT = Path(__file__).resolve().parents[2]
VOCABULARY = ("activations", "formulas", "losses")
NOT_KNOWN = {"glu": "halves its axis: no layer's activation", "threshold": "cannot be made from its name alone"}
"""Activations of Keras that the vocabulary leaves out, and why."""
CALLABLE = {name for name, item in ACTIVATIONS.items() if Trait.OVER_AXIS not in item.traits} - {
    "prelu",
    "thresholded_relu",
}
"""Functions of single values in `keras.activations`."""
X = np.linspace(-12, 12, 4_801, dtype=np.float64)[:, None] * np.array([1.0, 0.5, -0.25])
ALLOWED = {
    "stethoscope/activations/attributions/subjects.py": (2, "operators of a TensorFlow graph, by their own names"),
    "stethoscope/architecture/endings.py": (2, "one layer of Keras that is a ReLU6 by its settings, or a ReLU of ONNX"),
    "stethoscope/architecture/layer_work.py": (2, "operations of Keras that are counted, by their names"),
    "stethoscope/architecture/reach_rules.py": (1, "every operator with a softmax in its name reads a whole axis"),
    "stethoscope/checks/curves/short_run.py": (1, "one among layers that have weights and no kernel"),
    "stethoscope/checks/fixes/layer_code.py": (1, "the default of an argument of Keras"),
    "stethoscope/checks/nonfinite_activations.py": (2, "among layers of Keras that people know"),
    "stethoscope/compare/convert/onnx.py": (2, "operators that are written into an ONNX graph"),
    "stethoscope/compare/parity/value_suspicions.py": (4, "forms of GELU; settings that ELU and PReLU alone have"),
    "stethoscope/compare/parity/causes/by_kind.py": (3, "words in the names of a user's own layers"),
    "stethoscope/compare/parity/causes/elementwise.py": (3, "forms of GELU"),
    "stethoscope/compare/parity/recompute.py": (1, "what each layer of Keras computes, by its class"),
    "stethoscope/memory/planner/tensor_parallel.py": (1, "a dense layer that cannot be split"),
    "stethoscope/models/formats/keras_model/keras_activations.py": (1, "an operator that TensorFlow records"),
    "stethoscope/pasted/scripts/rules/logarithm_of_zero.py": (
        2,
        "what keeps a logarithm from zero, by the words of a script",
    ),
    "stethoscope/models/formats/keras_model/keras_weight_rules.py": (1, "weights of each layer of Keras, by its class"),
}
"""How often modules beside the vocabulary name an activation, and why they do: a number here may fall, never rise."""


def _functions(space):
    found = {name: value for name, value in vars(space).items() if inspect.isfunction(value)}
    return {name: found[name] for name in found.keys() - {"get", "serialize", "deserialize"}}


@pytest.mark.parametrize("package", ["keras", "tf_keras"])
def test_every_activation_of_keras_is_known(package):
    keras = pytest.importorskip(package)
    functions = _functions(keras.activations)
    assert len(functions) > 10
    assert {name for name in functions if known(name) is None} == NOT_KNOWN.keys() & functions.keys()
    assert all(known(function.__name__) is known(name) for name, function in functions.items() if known(name))
    for name in ACTIVATION_LAYERS:
        assert hasattr(keras.layers, name) or name == "ThresholdedReLU"


@pytest.mark.parametrize("name", sorted(ACTIVATIONS.keys() - {"prelu", "thresholded_relu"}))
def test_an_activation_is_what_keras_computes(name):
    keras = pytest.importorskip("keras")
    activation = ACTIVATIONS[name]
    made = np.asarray(getattr(keras.activations, name)(X), np.float64)
    low, high = activation.range
    assert made.min() >= low - 1e-3 and made.max() <= high + 1e-3
    if Trait.OVER_AXIS not in activation.traits and name != LINEAR.name:
        reached = np.asarray(getattr(keras.activations, name)(np.linspace(-700, 700, 140_001)), np.float64)
        assert abs(reached.min() - low) < 0.01 if np.isfinite(low) else reached.min() < -100
        assert abs(reached.max() - high) < 0.01 if np.isfinite(high) else reached.max() > 100
    if activation.keeps:
        kept = X[(activation.keeps[0] <= X) & (activation.keeps[1] >= X)]
        assert np.asarray(getattr(keras.activations, name)(kept)) == pytest.approx(kept)
    assert (Trait.DIES in activation.traits) == bool(
        Trait.OVER_AXIS not in activation.traits and name in ("relu", "relu6")
    )
    function = named_function(name)
    if function is not None:
        assert function(X) == pytest.approx(made, rel=1e-6, abs=1e-6)


def test_the_usual_activations_have_a_formula():
    usual = "linear relu relu6 leaky_relu elu selu gelu silu hard_silu mish sigmoid hard_sigmoid tanh softmax softplus softsign"
    assert all(named_function(name) is not None for name in (*usual.split(), "swish", "hard_swish", "exponential"))
    assert all(named_function(form.name) is form.function for form in FORMS)


def test_leaky_relu_has_the_slope_of_the_function_or_of_the_layer_by_that_name():
    keras, tf_keras = pytest.importorskip("keras"), pytest.importorskip("tf_keras")
    x = np.array([[-1.0, 2.0]])
    for function, name in (
        (keras.activations.leaky_relu, "leaky_relu"),
        (keras.layers.LeakyReLU(), "LeakyReLU"),
        (tf_keras.activations.get("LeakyReLU"), "LeakyReLU"),
    ):
        assert named_function(name)(x) == pytest.approx(np.asarray(function(x)))


def computed(name, x):
    """What Keras answers."""
    return np.asarray(keras.activations.get(name)(x), np.float64)


def single(names):
    """Those that Keras has as functions of single values."""
    return sorted(names & CALLABLE)


def test_a_threshold_cuts_off_and_passes_no_gradient():
    x = tf.constant([[-2.0, -0.5, 0.0, 0.5, 1.0, 3.0]])
    layer = tf_keras.layers.ThresholdedReLU(theta=1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = layer(x)
    assert y.numpy().tolist() == [[0, 0, 0, 0, 0, 3]] and tape.gradient(y, x).numpy().tolist() == [[0, 0, 0, 0, 0, 1]]
    assert known("ThresholdedReLU").name in CAN_DIE & NEVER_NEGATIVE
    assert known("ThresholdedReLU").range == known("relu").range


def test_what_never_goes_below_0_and_what_stays_within_1():
    x = np.linspace(-30, 30, 6_001)
    for name in single(ACTIVATIONS.keys()):
        y = computed(name, x)
        assert (y.min() >= 0) == (name in NEVER_NEGATIVE), name
        assert (np.abs(y).max() <= 1 + 1e-6) == (name in BOUNDED), name
        assert (y.min() >= 0 and y.max() <= 1 + 1e-6) == (name in GATES), name
    assert computed("softmax", x[None]).max() <= 1 and "softmax" in BOUNDED - SQUASHING


@pytest.mark.parametrize(
    "name",
    [
        "relu",
        "relu6",
        "linear",
        "leaky_relu",
        "elu",
        "celu",
        "selu",
        "softplus",
        "silu",
        "gelu",
        "mish",
        "hard_silu",
        "exponential",
        "tanh",
        "hard_tanh",
        "softsign",
        "sigmoid",
        "hard_sigmoid",
    ],
)
def test_a_state_grows_without_limit_where_the_activation_can(name):
    layer = keras.layers.SimpleRNN(1, activation=name)
    states = []
    for steps in (10, 100):
        layer.build((1, steps, 1))
        layer.set_weights([np.array([[1.0]]), np.array([[1.5]]), np.array([0.0])])
        states.append(abs(float(np.asarray(layer(np.ones((1, steps, 1), np.float32)))[0, 0])))
    grows = not np.isfinite(states[1]) or states[1] > 10 * states[0]
    assert grows == (name in UNBOUNDED) and (states[1] <= 6 or grows)


def test_larger_weights_suit_what_rectifies():
    # The mean square of what a layer puts out, of inputs with mean square 1 times the weights' gain: kept where it stays at 1.
    z, gains = np.random.default_rng(0).standard_normal(200_000), {"he": 2.0, "glorot": 1.0}
    for name in single(RECTIFIERS):
        kept = {rule: abs(np.log(gain * np.mean(computed(name, z) ** 2))) for rule, gain in gains.items()}
        assert kept["he"] < kept["glorot"], name
    learned = keras.layers.PReLU(alpha_initializer="zeros")
    assert "prelu" in RECTIFIERS and np.asarray(learned(z[:9, None])) == pytest.approx(np.maximum(z[:9, None], 0))


def test_a_slope_is_told_from_the_output_where_it_can_be():
    x = tf.constant(np.linspace(-8, 8, 4_001))
    for name in single(ACTIVATIONS.keys()):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = keras.activations.get(name)(x)
        y, slope = y.numpy(), tape.gradient(y, x).numpy()
        order = np.argsort(y, kind="stable")
        jumps = np.abs(np.diff(slope[order]))[np.diff(y[order]) < 1e-9]
        if Trait.SLOPE_FROM_OUTPUT in ACTIVATIONS[name].traits:
            assert jumps.size == 0 or jumps.max() < 1e-3, name
    assert kind_of("Celu", 0) is Kind.ACTIVATION
    assert reads_input(Kind.ACTIVATION, "celu") and not reads_output(Kind.ACTIVATION, "celu")


def test_operators_of_onnx_compute_what_their_name_says():
    reference = pytest.importorskip("onnx.reference")
    from onnx import TensorProto, helper

    x = np.linspace(-5, 5, 41, dtype=np.float32)[None]
    for kind in [
        "Relu",
        "Sigmoid",
        "Tanh",
        "Softplus",
        "Softsign",
        "Elu",
        "Selu",
        "Celu",
        "HardSwish",
        "Mish",
        "Gelu",
        "Exp",
        "Softmax",
        "LogSoftmax",
    ]:
        value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, (1, 41)) for name in "xy"]
        graph = helper.make_graph([helper.make_node(kind, ["x"], ["y"])], "g", value[:1], value[1:])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
        (made,) = reference.ReferenceEvaluator(model).run(None, {"x": x})
        assert computed(known(kind).name, x) == pytest.approx(made, abs=1e-5), kind
        assert kind == "Exp" or kind_of(kind, 0) is Kind.ACTIVATION


def test_a_flat_end_is_flat():
    for activation in ACTIVATIONS.values():
        if activation.flat is None or Trait.OVER_AXIS in activation.traits:
            continue
        function = named_function(activation.name) or (lambda x: np.clip(x, -1, 1))
        x = np.linspace(-8, 8, 160_001)
        y = function(x)
        slope = np.gradient(y, x)
        low, high = activation.flat
        beyond = (y < (-np.inf if low is None else low)) | (y > (np.inf if high is None else high))
        assert not beyond.any() or slope[beyond].max() < 0.008, activation.name


def test_losses_are_those_of_keras_and_take_logits_where_keras_does():
    keras = pytest.importorskip("keras")
    for loss in CLASSIFICATION_LOSSES | (REGRESSION_LOSSES - {"root_mean_squared_error"}):
        made = getattr(keras.losses, loss_class(loss))
        assert ("from_logits" in inspect.signature(made.__init__).parameters) == (loss in LOGITS_LOSSES), loss


def test_names_have_one_spelling():
    for spelling, name in {
        "LOGISTIC": "sigmoid",
        "RELU_N1_TO_1": "hard_tanh",
        "LeakyReLU": "leaky_relu",
        "leaky_re_lu": "leaky_relu",
        "swish": "silu",
        "HARD_SWISH": "hard_silu",
        "NONE": "linear",
    }.items():
        assert known(spelling) is ACTIVATIONS[name]
    assert known("Conv2D") is None and known("") is None


def test_other_rooms_ask_the_vocabulary_what_an_activation_is():
    names = {*ACTIVATIONS, *(item.layer for item in ACTIVATIONS.values() if item.layer), "swish", "Sigmoid", "Tanh"}
    found = _named_outside(names - {LINEAR.name})
    counts = {path: count for path, (count, _) in ALLOWED.items()}
    assert dict(found) == counts, "ask stethoscope.architecture.activations; where a name is gone, lower the number"


def _named_outside(names):
    """How often each module names one of them in a string of its own, docstrings left out."""
    found = Counter()
    for folder in ("stethoscope", "dashboard", "pages"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if path.parent.name == "architecture" and path.stem in VOCABULARY:
                continue
            tree = ast.parse(path.read_text("utf-8"))
            count = sum(isinstance(node, ast.Constant) and node.value in names for node in ast.walk(tree))
            if count:
                found[str(path.relative_to(ROOT))] = count
    return found
