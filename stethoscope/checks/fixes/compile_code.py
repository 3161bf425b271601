"""Lines of `compile` and `fit` as fixes print them."""

from __future__ import annotations

from stethoscope.checks.fixes.layer_code import comment, literal, number

_CLASSES = {
    "sparse_categorical_crossentropy": "SparseCategoricalCrossentropy",
    "categorical_crossentropy": "CategoricalCrossentropy",
    "binary_crossentropy": "BinaryCrossentropy",
    "binary_focal_crossentropy": "BinaryFocalCrossentropy",
    "categorical_focal_crossentropy": "CategoricalFocalCrossentropy",
}
"""Losses that take from_logits, and their classes."""
_OPTIMIZERS = {
    name.lower(): name
    for name in (
        "SGD",
        "RMSprop",
        "Adam",
        "AdamW",
        "Adadelta",
        "Adagrad",
        "Adamax",
        "Nadam",
        "Ftrl",
        "Lion",
        "Adafactor",
    )
}


def loss_source(loss: str, from_logits: bool = False) -> str:
    """The loss argument: its name, or the object that reads logits."""
    if from_logits and loss in _CLASSES:
        return f"keras.losses.{_CLASSES[loss]}(from_logits=True)"
    return literal(loss)


def metric_for(loss: str) -> str:
    """A metric that people read beside this loss."""
    return "accuracy" if "crossentropy" in loss or "hinge" in loss or loss == "kl_divergence" else "mae"


def compile_line(*, loss: str, output: str = "", loss_name: str = "") -> str:
    """`model.compile` with another loss, the optimizer kept. `loss` is Python source."""
    where = comment(f"the loss of the output {output}" if output else "in place of your model.compile line")
    metric = literal(metric_for(loss_name))
    return f"{where}\nmodel.compile(optimizer=model.optimizer, loss={loss}, metrics=[{metric}])"


def optimizer_class(name: str) -> str:
    """Keras' class name of an optimizer, however it was written."""
    return _OPTIMIZERS.get(name.lower().replace("_", ""), name)


def optimizer_line(optimizer: str, learning_rate: float | None, **settings: float) -> str:
    """`model.compile` with another optimizer, the loss kept."""
    given = {"learning_rate": learning_rate, **settings}
    arguments = ", ".join(f"{name}={number(value)}" for name, value in given.items() if value is not None)
    where = comment("in place of your model.compile line; keep your metrics=")
    made = f"keras.optimizers.{optimizer_class(optimizer)}({arguments})"
    return f"{where}\nmodel.compile(optimizer={made}, loss=model.loss)"


def fit_line(**arguments: str) -> str:
    """`model.fit` with changed arguments, given as Python source."""
    where = comment("in place of your model.fit line; keep your other arguments")
    given = ", ".join(f"{name}={value}" for name, value in arguments.items())
    return f"{where}\nmodel.fit(x, y, {given})"
