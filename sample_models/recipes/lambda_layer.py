"""Code inside a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sample_models.canonical import save_keras
from sample_models.recipe import Recipe


def _build(folder: Path) -> Path:
    import keras
    from keras import layers

    rescale: Any = lambda x: x * 2.0 - 1.0  # noqa: E731 – a def would be saved by name, without its code
    # The bytecode names the source file: keep this machine's path out of it.
    rescale.__code__ = rescale.__code__.replace(co_filename="lambda_layer.py")
    model = keras.Sequential(
        [
            layers.Input((8,), name="signal"),
            layers.Lambda(rescale, output_shape=(8,), name="rescale"),
            layers.Dense(4, name="scores"),
        ],
        name="lambda_layer",
    )
    return save_keras(model, folder / "lambda_layer.keras")


RECIPE = Recipe(
    id="lambda_layer",
    title="Carries Python code (Lambda)",
    behaviour="A Lambda layer is Python bytecode inside the file: it is described, and runs only after you say yes.",
    description="Rescales its input by a Lambda layer, x * 2 - 1: harmless, but a file with a Lambda could do anything. The code was "
    "compiled by Python 3.11; other versions cannot read it. Prefer the Rescaling layer.",
    parameters=36,
    build=_build,
    order=32,
    expectations={"needs_trust": True, "hazard": "lambda", "python": "3.11"},
)
