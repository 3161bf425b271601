"""Inconsistent: a graph that draws random numbers without a seed."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from sample_models.canonical import save_saved_model
from sample_models.recipe import SEED, Recipe


def _build(folder: Path) -> Path:
    import tensorflow as tf

    generator = np.random.default_rng(SEED)
    # A global seed would be written into the graph.
    tf.random.set_seed(None)

    class Noisy(tf.Module):  # type: ignore[misc]
        """A linear map with noise on its result."""

        def __init__(self) -> None:
            super().__init__(name="noisy")
            self.weights = tf.Variable(generator.standard_normal((16, 4)), dtype=tf.float32, name="weights")

        @tf.function(input_signature=[tf.TensorSpec((None, 16), tf.float32, name="signal")])  # type: ignore[untyped-decorator]
        def serve(self, signal: Any) -> dict[str, Any]:
            scores = tf.matmul(signal, self.weights, name="scores")
            noise = tf.random.normal(tf.shape(scores), stddev=0.1, name="unseeded_noise")
            return {"scores": tf.add(scores, noise, name="noisy_scores")}

    module = Noisy()
    with tempfile.TemporaryDirectory() as scratch:
        tf.saved_model.save(module, scratch, signatures={"serving_default": module.serve})
        return save_saved_model(Path(scratch), folder / "unseeded_noise.zip")


RECIPE = Recipe(
    id="unseeded_noise",
    title="Noise without a seed (SavedModel)",
    behaviour="The same input gives another answer each time, because the graph draws random numbers without a seed.",
    description="A linear map that adds Gaussian noise to its result. The consistency test finds the operator unseeded_noise.",
    parameters=64,
    build=_build,
    order=30,
    expectations={"consistent": False, "first_difference": "unseeded_noise/RandomStandardNormal"},
)
