"""What is told from two arrays alone, when nothing is known of the layer."""

from __future__ import annotations

import importlib
import pkgutil

import numpy as np

from stethoscope.compare import parity
from stethoscope.compare.parity import causes
from stethoscope.compare.parity.causes import all_causes, guesses
from stethoscope.compare.parity.causes.case import Added, Case, SettingChange, WeightPair
from stethoscope.types import Layer
from tests.frameworks import keras
from tests.tables import each

A = np.random.default_rng(0).standard_normal((6, 9, 9, 5))


def case(b, kind="Conv", a=A, **more):
    layer = Layer("here", kind, None, 0, 0, "float32")
    return Case(a.astype(np.float64), b.astype(np.float64), layer, (layer,), **more)


def told(*args, **more):
    return guesses(case(*args, **more))[0].cause


def changed(change):
    b = A.copy()
    change(b)
    return b


def test_single_channels():
    assert told(changed(lambda b: b[..., 2].fill(0))) == "zeroed-channel"
    assert told(A[..., [0, 3, 2, 1, 4]]) == "swapped-channels"
    assert told(A * np.array([1.1, 0.9, 1.05, 1.2, 0.8]) + 0.1, "BatchNormalization") == "epsilon"
    assert told(A + np.array([0.1, 0.2, -0.1, 0.3, 0.4])) == "bias"


def test_places():
    shifted = np.roll(A, 1, axis=1)
    assert told(shifted) == "padding"
    assert told(changed(lambda b: b[:, 0].__iadd__(1.0))) == "padding"
    assert told(A.swapaxes(1, 2), "Reshape") == "layout"


def test_values():
    assert told(np.clip(A, -0.5, 0.5), "Relu") == "clipped-range"
    assert told(A * 0.01 + 9, "Relu") != "clipped-range"
    assert told(A * 1.5, "Mul") == "scale"
    positive = np.maximum(A, 0)
    assert told(np.where(A > 0, A, 0.2 * A), "Activation", positive, inputs=(A,)) == "activation"
    sloped = guesses(case(np.where(A > 0, A, 0.137 * A), "Activation", positive, inputs=(A,)))[0]
    assert "slope 0.137" in sloped.sentence
    dropped = np.where(np.random.default_rng(1).random(A.shape) < 0.3, 0, A / 0.7)
    assert told(dropped, "Dropout") == "training-mode"
    assert told(A + 0.1, "Dropout", moved=0.3) == "training-mode"


def test_a_quantised_tensor_that_ends_too_early():
    step = 1 / 127
    clipped = np.clip(np.round(A / step) * step, -1, 1)
    assert told(clipped, value_range=(-1.0, 1.0), step=step) == "clipped-range"
    whole = np.round(A / 0.05) * 0.05
    assert told(whole, value_range=(-6.4, 6.35), step=0.05) == "quantisation"


def test_a_setting_that_differs_is_named_first():
    found = guesses(case(A * 1.01, "BatchNormalization", settings=(SettingChange("here", "epsilon", 0.001, 0.1),)))[0]
    assert (found.cause, found.layer) == ("epsilon", "here")
    assert "0.001" in found.sentence


@each(
    ("change", "cause"),
    [
        (lambda k: k.transpose(1, 0, 2, 3), "transposed-kernel"),
        (lambda k: k[::-1, ::-1], "flipped-kernel"),
        (lambda k: k[..., [1, 0, 2, 3]], "swapped-channels"),
        (lambda k: np.where(np.arange(4) == 1, 0, k), "zeroed-channel"),
        (lambda k: 1.3 * k, "scaled-weights"),
        (lambda k: -k, "scaled-weights"),
        (lambda k: k + 0.5, "weights"),
        (lambda k: k.transpose(3, 2, 0, 1) * 1.3, "scaled-weights"),
    ],
)
def test_weights_tell_what_happened_to_them(change, cause):
    kernel = np.random.default_rng(0).standard_normal((3, 3, 2, 4))
    pair = WeightPair("here", "kernel", kernel, np.ascontiguousarray(change(kernel)))
    unlike = A + np.random.default_rng(2).standard_normal(A.shape)
    assert told(unlike, weights=(pair,)) == cause


def test_rounded_weights_are_not_called_moved():
    kernel = np.random.default_rng(0).standard_normal((3, 3, 2, 40))
    rounded = kernel + 5e-5 * np.random.default_rng(1).standard_normal(kernel.shape)
    found = [one.cause for one in guesses(case(A + 0.01, weights=(WeightPair("here", "kernel", kernel, rounded),)))]
    assert "quantised-weights" in found
    assert "swapped-channels" not in found


def test_every_cause_stays_silent_or_gives_a_share():
    for cause in all_causes().values():
        guess = cause.weigh(case(A + 1e-9))
        assert guess is None or 0 <= guess.confidence <= 1
        assert cause.title


def test_each_cause_and_each_suspicion_says_where_it_was_met():
    named = [(causes, name) for name in modules_of(causes) if name not in ("case", "chain")]
    named += [(parity, name) for name in modules_of(parity) if name.endswith("_suspicions")]
    assert len(named) > 15
    for package, name in named:
        assert "Source:" in (importlib.import_module(f"{package.__name__}.{name}").__doc__ or ""), name


def modules_of(package):
    return [one.name for one in pkgutil.iter_modules(package.__path__)]


def test_an_operator_inside_that_is_full():
    inner = np.clip(A, -0.5, 0.5)
    unlike = A + np.random.default_rng(2).standard_normal(A.shape)
    full = Added("here/MatMul", inner, (-0.5, 0.5))
    assert told(unlike, "Dense", added=(full,)) == "clipped-range"
    probabilities = Added("here/Softmax", np.round(np.abs(np.tanh(3 * A))), (0.0, 255 / 256))
    assert told(unlike, "Dense", added=(probabilities,)) != "clipped-range"


def test_dropout_that_only_an_operator_of_the_second_model_shows():
    dropped = np.where(np.random.default_rng(1).random(A.shape) < 0.3, 0, A / 0.7)
    unlike = A + np.random.default_rng(2).standard_normal(A.shape)
    assert told(unlike, "Dense", inputs=(A,), added=(Added("drop/SelectV2", dropped),)) == "training-mode"
    assert told(unlike, "Dense", inputs=(A,), added=(Added("relu", np.maximum(A, 0)),)) != "training-mode"


def test_another_scale_of_the_input_is_no_epsilon():
    assert told(2 * A - 1, "Rescaling") == "preprocessing"
    assert told(A * np.array([1.1, 0.9, 1.05, 1.2, 0.8]) + 0.1, "Normalization") == "preprocessing"
    assert told(2 * A[..., :1] - 1, "Rescaling", A[..., :1]) == "preprocessing"
    assert told(2 * A - 1, "BatchNormalization") == "epsilon"


def test_a_doubled_bias_is_a_bias():
    bias = np.random.default_rng(0).standard_normal(5)
    assert told(A + bias * 3e-7, weights=(WeightPair("here", "bias", bias, 2 * bias),)) == "bias"
    assert told(A + bias * 3e-7, weights=(WeightPair("here", "gamma", bias, 2 * bias),)) == "scaled-weights"


def test_a_bound_that_only_the_second_model_has():
    unlike = A + np.random.default_rng(2).standard_normal(A.shape)
    cut = Added("act/Minimum", np.minimum(np.maximum(A, 0), 0.4))
    assert told(unlike, "Conv", inputs=(np.maximum(A, 0),), added=(cut,)) == "clipped-range"
    assert told(unlike, "Conv", inputs=(A,), added=(Added("act/Relu", np.maximum(A, 0)),)) != "clipped-range"


@each(
    ("first", "second", "cause"),
    [
        ("Softmax", "Sigmoid", "activation"),
        ("Relu", "Identity", "activation"),
        ("Mish", "Relu", "activation"),
        ("Activation", "ReLU", "activation"),
        ("MyReLU", "FusedTanh", "activation"),
        ("Mean", "Max", "pooling"),
        ("Add", "Mul", "setting"),
    ],
)
def test_another_kind_of_operator(first, second, cause):
    unlike = A + np.random.default_rng(2).standard_normal(A.shape)
    assert told(unlike, first, settings=(SettingChange("here", "type", first, second),)) == cause


@each("kind", ["Activation", "ReLU", "Relu", "LOGISTIC", "HARD_SWISH", "Softsign", "Celu", "MyReLU", "ScaledTanh"])
def test_another_function_is_told_of_whatever_is_an_activation(kind):
    other = np.asarray(keras.activations.mish(A))
    (first, *_) = guesses(case(other, kind, np.maximum(A, 0), inputs=(A,)))
    assert first.cause == "activation" and "Mish" in first.sentence


def test_a_kernel_with_a_normalisation_folded_in_is_still_transposed():
    random = np.random.default_rng(0)
    kernel, factor = random.standard_normal((3, 3, 4, 5)), random.uniform(0.5, 2, 5)
    layers = (Layer("here", "Conv2D", None, 0, 0, ""), Layer("bn", "Mul", None, 0, 0, ""))
    unlike = A + random.standard_normal(A.shape)
    for change, cause in (
        (lambda k: k.swapaxes(0, 1), "transposed-kernel"),
        (lambda k: k[::-1, ::-1], "flipped-kernel"),
    ):
        weights = (WeightPair("here", "kernel", kernel, change(kernel) * factor),)
        assert guesses(Case(A, unlike, layers[1], layers, weights=weights))[0].cause == cause


def test_a_cast_to_whole_numbers_is_no_factor_of_zero():
    assert told(np.trunc(A)) == "precision"
    assert told(np.trunc(A * 0.1), a=A * 0.1) == "precision"


def test_a_setting_is_sure_where_all_that_differ_together_give_the_answer():
    layer = Layer("here", "Rescaling", None, 0, 0, "float32", inputs=("x",), config={"scale": 2.0, "offset": 0.0})
    changes = (SettingChange("here", "scale", 2.0, 3.0), SettingChange("here", "offset", 0.0, 1.0))

    def surest(b):
        made = Case(2 * A, b, layer, (layer,), (A,), {"x": A, "here": 2 * A}, settings=changes)
        return next(one for one in guesses(made) if one.cause == "scale" and "offset" in one.fix)

    assert surest(3 * A + 1).confidence > 0.97 > 0.6 > surest(7 * A - 2).confidence


def test_an_epsilon_is_told_from_statistics_by_its_side():
    layer = Layer("net/batchnorm/mul_1", "Mul", None, 0, 0, "float32")
    factors = np.array([1.1, 1.2, 1.05, 1.4, 1.3])
    gamma = WeightPair(layer.path, "mul:0", np.ones(5), factors)
    found = guesses(Case(A, A * factors + 0.1, layer, (layer,), weights=(gamma,)))
    assert found[0].cause == "epsilon"


def test_a_kernel_with_a_factor_of_each_channel_has_a_normalisation_folded_in():
    layer = Layer("net/conv/convolution;net/batchnorm/add_1", "Conv", None, 0, 0, "float32")
    kernel = np.random.default_rng(3).standard_normal((3, 3, 4, 5))
    pair = WeightPair(layer.path, "kernel", kernel, kernel * np.array([0.9, 0.8, 0.95, 0.7, 0.85]))
    assert guesses(Case(A, A * 0.8 + A[::-1] * 0.1, layer, (layer,), weights=(pair,)))[0].cause == "epsilon"
