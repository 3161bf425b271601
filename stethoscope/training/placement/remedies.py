"""The ways out of the clash of XLA with devices, as programs to copy, and what each is the one to choose for."""

from __future__ import annotations

import json
from dataclasses import dataclass

from stethoscope.architecture.xla_use import DEVELOPMENT, IN_PLACE, SERVING, SEVERAL


@dataclass(frozen=True)
class Remedy:
    """One way, before it is tried."""

    id: str
    title: str
    code: str
    """Valid Python; the names `x`, `y` and `build_model` are the reader's."""
    note: str
    when: str
    """What it is the one to choose for."""


def remedies(
    model_file: str, *, package: str = "keras", train_device: str = "/GPU:0", predict_device: str = "/CPU:0"
) -> tuple[Remedy, ...]:
    """Returns the remedies for a model file: XLA off, a strategy's scope (two forms), a clone with the same weights.

    Args:
        model_file: the name to load.
        package: "keras" or "tf_keras".
        train_device: where it is trained.
        predict_device: where it is to predict.
    """
    name = json.dumps(model_file)
    train, predict = json.dumps(train_device), json.dumps(predict_device)
    head = (
        f"import {package}\nimport tensorflow as tf\n\n"
        if package == "keras"
        else f"import tensorflow as tf\nimport {package}\n\n"
    )
    load = f"{package}.models.load_model({name})"
    tail = f"with tf.device({predict}):\n    outputs = model.predict(x)\n"
    fit = f"with tf.device({train}):\n    model = {load}  # or build_model()\n    model.fit(x, y)\n\n"
    return (
        Remedy(
            "jit-off",
            "Compile without XLA",
            f"{head}{fit}model.compile(optimizer=model.optimizer, loss=model.loss, jit_compile=False)\n{tail}",
            "The variables stay where they are; TensorFlow copies them to where the prediction runs. Costs XLA's speed.",
            DEVELOPMENT,
        ),
        Remedy(
            "scope",
            "Build and train in a strategy's scope",
            f"{head}strategy = tf.distribute.OneDeviceStrategy({train})\n"
            f"with strategy.scope(), tf.device({train}):\n"
            f"    model = {load}  # or build_model() and compile\n"
            f"    model.fit(x, y)\n\n{tail}",
            f"The strategy runs every call on {train_device}, whatever device is asked for: the prediction runs there too.",
            SEVERAL,
        ),
        Remedy(
            "scope-load",
            "Load what was saved in a scope of the predicting device",
            f'{head}{fit}model.save("trained.keras")\n'
            f"with tf.distribute.OneDeviceStrategy({predict}).scope():\n"
            f'    model = {package}.models.load_model("trained.keras")\n{tail}',
            f"New variables on {predict_device}, so the prediction runs there, with XLA. What to do in another process.",
            SERVING,
        ),
        Remedy(
            "clone",
            "Clone on the predicting device and copy the weights",
            f"{head}{fit}with tf.device({predict}):\n"
            f"    copy = {package}.models.clone_model(model)\n    copy.set_weights(model.get_weights())\n"
            f"    outputs = copy.predict(x)\n",
            "Needs no file, but a model that Keras can rebuild from its configuration; the weights are held twice.",
            IN_PLACE,
        ),
    )
