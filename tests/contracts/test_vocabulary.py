"""One place says what each activation is: it agrees with Keras, and the other rooms ask it."""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from stethoscope.architecture.activations import ACTIVATION_LAYERS, ACTIVATIONS, LINEAR, Trait, known
from stethoscope.architecture.formulas import FORMS, named_function
from stethoscope.architecture.losses import CLASSIFICATION_LOSSES, LOGITS_LOSSES, REGRESSION_LOSSES, loss_class

ROOT = Path(__file__).resolve().parents[2]
VOCABULARY = ("activations", "formulas", "losses")
NOT_KNOWN = {"glu": "halves its axis: no layer's activation", "threshold": "cannot be made from its name alone"}
"""Activations of Keras that the vocabulary leaves out, and why."""
X = np.linspace(-12, 12, 4_801, dtype=np.float64)[:, None] * np.array([1.0, 0.5, -0.25])
ALLOWED = {
    "stethoscope/activations/attributions/graph_subject.py": 2,
    "stethoscope/architecture/endings.py": 2,
    "stethoscope/architecture/keras_work.py": 2,
    "stethoscope/architecture/reach_rules.py": 1,
    "stethoscope/checks/curves/layer_signals.py": 1,
    "stethoscope/checks/fixes/layer_code.py": 1,
    "stethoscope/checks/nonfinite_activations.py": 2,
    "stethoscope/compare/convert/onnx.py": 2,
    "stethoscope/compare/parity/activation_suspicions.py": 4,
    "stethoscope/compare/parity/causes/by_kind.py": 3,
    "stethoscope/compare/parity/causes/elementwise.py": 4,
    "stethoscope/compare/parity/recompute.py": 1,
    "stethoscope/memory/planner/tensor_parallel.py": 1,
    "stethoscope/models/formats/keras_model/keras_attention.py": 1,
    "stethoscope/models/formats/keras_model/keras_weight_rules.py": 1,
}
"""How often modules beside the vocabulary name an activation: a number here may fall, never rise, and none is added."""


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
    assert dict(found) == ALLOWED, "ask stethoscope.architecture.activations; where a name is gone, lower the number"


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
