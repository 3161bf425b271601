"""Half a gigabyte of dense layers, as Keras 3."""

from __future__ import annotations

from pathlib import Path

from sample_models import big_dense
from sample_models.canonical import save_keras
from sample_models.recipe import Recipe


def _build(folder: Path) -> Path:
    import keras
    from keras import layers

    units = [big_dense.WIDTH] * big_dense.LAYERS + [2048]
    # Zeros first: drawing random weights twice would only take time.
    stack = [layers.Dense(n, kernel_initializer="zeros", name=f"dense_{i}") for i, n in enumerate(units)]
    model = keras.Sequential([layers.Input((big_dense.WIDTH,), name="features"), *stack], name="dense_500mb")
    model.set_weights(big_dense.weights())
    return save_keras(model, folder / "dense_500mb.keras")


RECIPE = Recipe(
    id="dense_500mb",
    title="Half a gigabyte (Keras 3)",
    behaviour="Few layers, 504 MB of weights: for timing uploads and drawings.",
    description="Eight dense layers with random weights.",
    parameters=big_dense.PARAMETERS,
    build=_build,
    big=True,
    expectations={"consistent": True},
)
