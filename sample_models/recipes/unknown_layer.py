"""A layer nobody here has the code of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sample_models.canonical import save_keras
from sample_models.recipe import Recipe


def _build(folder: Path) -> Path:
    import keras
    from keras import layers

    class GatedDense(layers.Layer):  # type: ignore[misc]
        """A dense layer that gates its own result."""

        def __init__(self, units: int, **options: Any) -> None:
            super().__init__(**options)
            self.units = units

        def build(self, shape: Any) -> None:
            self.value = self.add_weight(shape=(shape[-1], self.units), name="value")
            self.gate = self.add_weight(shape=(shape[-1], self.units), name="gate")

        def call(self, x: Any) -> Any:
            return keras.ops.matmul(x, self.value) * keras.ops.sigmoid(keras.ops.matmul(x, self.gate))

        def get_config(self) -> dict[str, Any]:
            return {**super().get_config(), "units": self.units}

    # The file then refers to a package that is not installed, as somebody else's model does.
    GatedDense.__module__ = "acme_vision.layers"
    signal = layers.Input((16,), name="signal")
    x = GatedDense(32, name="gated")(signal)
    model = keras.Model(signal, layers.Dense(4, activation="softmax", name="scores")(x), name="unknown_layer")
    return save_keras(model, folder / "unknown_layer.keras")


RECIPE = Recipe(
    id="unknown_layer",
    title="Has a layer that is not installed",
    behaviour="The architecture can be read, but not run: the code of one layer is missing.",
    description="Uses a layer GatedDense from a package acme_vision, which does not exist here. The model card says which class is "
    "missing and what to do.",
    parameters=1_156,
    build=_build,
    order=33,
    expectations={"missing_class": "GatedDense"},
)
