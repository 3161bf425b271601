"""The loop trains exactly as `fit` does: same order of rows, same losses, same weights in the end."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from stethoscope.training.compare import Trainers
from tests.frameworks import in_turn_in_both_kerases
from tests.training.programs import blobs, setup_of

X, Y = blobs(70)
ONE_HOT = np.eye(3, dtype=np.float32)[Y]


def sgd(**settings):
    return {"class_name": "SGD", "config": {"learning_rate": 0.05, **settings}}


def mlp(keras):
    keras.utils.set_random_seed(3)
    regular = keras.regularizers.L2(0.01)
    return keras.Sequential(
        [
            keras.layers.Input((4,)),
            keras.layers.Dense(8, activation="relu", kernel_regularizer=regular),
            keras.layers.BatchNormalization(),
            keras.layers.Dense(3, activation="softmax"),
        ]
    )


def two_heads(keras):
    keras.utils.set_random_seed(3)
    given = keras.Input((4,), name="a")
    hidden = keras.layers.Dense(6, activation="tanh")(given)
    return keras.Model(
        given, [keras.layers.Dense(3, activation="softmax", name="c")(hidden), keras.layers.Dense(1, name="r")(hidden)]
    )


def fitted(keras, model, targets, compiled, epochs, **fit):
    """Losses of each batch and the final weights, from `fit` itself."""
    losses = []
    optimizer = compiled["optimizer"]
    config = {key: value for key, value in optimizer["config"].items() if key != "decay"}
    if "decay" in optimizer["config"]:
        kind = getattr(keras.optimizers.legacy, optimizer["class_name"])
        config["decay"] = optimizer["config"]["decay"]
    else:
        kind = getattr(keras.optimizers, optimizer["class_name"])
    model.compile(
        optimizer=kind(**config), loss=compiled["loss"], loss_weights=compiled.get("loss_weights"), jit_compile=False
    )

    class Watch(keras.callbacks.Callback):
        total = seen = 0

        def on_epoch_end(self, epoch, logs=None):
            losses.append(logs["loss"])

    model.fit(X, targets, epochs=epochs, batch_size=16, shuffle=False, verbose=0, callbacks=[Watch()], **fit)
    return losses, [np.array(weight) for weight in model.get_weights()]


CASES = {
    "regularised-batchnorm": (
        mlp,
        {"t": Y},
        {"loss": "sparse_categorical_crossentropy", "optimizer": sgd(momentum=0.9, nesterov=True)},
        {},
    ),
    "one-hot-adam-clipped": (
        mlp,
        {"t": ONE_HOT},
        {
            "loss": "categorical_crossentropy",
            "optimizer": {"class_name": "Adam", "config": {"learning_rate": 0.01, "clipnorm": 0.5}},
        },
        {},
    ),
    "class-weights": (
        mlp,
        {"t": Y},
        {"loss": "sparse_categorical_crossentropy", "optimizer": sgd()},
        {"class_weight": {0: 1.0, 1: 5.0, 2: 0.5}},
    ),
    "mean-squares-of-a-column": (mlp, {"t": ONE_HOT}, {"loss": "mse", "optimizer": sgd()}, {}),
    "two-outputs": (
        two_heads,
        {"c": Y, "r": X[:, 0]},
        {"loss": ["sparse_categorical_crossentropy", "mae"], "loss_weights": [1.0, 0.3], "optimizer": sgd()},
        {},
    ),
}


@pytest.mark.parametrize(("package", "case"), in_turn_in_both_kerases(CASES))
def test_losses_and_weights_equal_those_of_fit(package, case):
    keras = importlib.import_module(package)
    build, targets, compiled, extra = CASES[case]
    model = build(keras)
    setup = setup_of(model, {"a": X}, targets, compiled, batch_size=16, epochs=3, shuffle=False).with_changes(**extra)
    curve = Trainers().of(setup).run(setup, 0, time_s=60)
    twin = build(keras)
    losses, weights = fitted(
        keras, twin, list(targets.values()) if len(targets) > 1 else targets["t"], compiled, 3, **extra
    )
    assert curve.epochs == (1, 2, 3)
    np.testing.assert_allclose(curve.epoch_loss, losses, rtol=2e-5, atol=1e-6)
    for ours, theirs in zip(model.get_weights(), weights, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def test_keras_2_decay_is_honoured():
    import tf_keras

    compiled = {"loss": "categorical_crossentropy", "optimizer": sgd(decay=0.1)}
    model = mlp(tf_keras)
    setup = setup_of(model, {"a": X}, {"t": ONE_HOT}, compiled, batch_size=16, epochs=2, shuffle=False)
    curve = Trainers().of(setup).run(setup, 0, time_s=60)
    losses, _ = fitted(tf_keras, mlp(tf_keras), ONE_HOT, compiled, 2)
    np.testing.assert_allclose(curve.epoch_loss, losses, rtol=2e-5)


def test_logits_are_told_from_probabilities_as_fit_tells_them():
    """Keras 3 computes cross-entropies from what is behind a softmax; so does the loop."""
    import keras

    def steep():
        keras.utils.set_random_seed(0)
        model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1, activation="softmax")])
        model.layers[0].set_weights([np.full((4, 1), 30.0), np.zeros(1)])
        return model

    compiled = {"loss": "binary_crossentropy", "optimizer": sgd()}
    target = (Y == 0).astype(np.float32)[:, None]
    setup = setup_of(steep(), {"a": X}, {"t": target}, compiled, batch_size=16, epochs=2, shuffle=False)
    curve = Trainers().of(setup).run(setup, 0, time_s=60)
    losses, _ = fitted(keras, steep(), target, compiled, 2)
    np.testing.assert_allclose(curve.epoch_loss, losses, rtol=2e-5)
