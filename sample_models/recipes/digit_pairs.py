"""Several inputs, several outputs, and a layer used twice."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sample_models import datasets, pairs
from sample_models.canonical import save_keras
from sample_models.recipe import Recipe


def _build(folder: Path) -> Path:
    file = folder / "digit_pairs.keras"
    file.unlink(missing_ok=True)
    data = datasets.digit_pairs(64, held_out=True)
    np.savez(folder / pairs.DATA, left=data.left, right=data.right)
    return save_keras(pairs.trained(folder), file)


def _measure(file: Path) -> dict[str, float]:
    import keras

    data = datasets.digit_pairs(1000, held_out=True)
    answer = keras.models.load_model(file).predict_on_batch({"left": data.left, "right": data.right})
    return {"accuracy": round(float(np.mean((answer["same"] > 0.5) == (data.same > 0.5))), 4)}


RECIPE = Recipe(
    id="digit_pairs",
    title="Digit pairs (two inputs, two outputs)",
    behaviour="One layer reads both inputs, and two outputs with two losses share what it sees.",
    description="Two digit images go in; out come whether they show the same digit and the sum of both. The layer reader is used "
    "twice with the same weights. Trained on pairs of scikit-learn's digits.",
    parameters=pairs.PARAMETERS,
    build=_build,
    order=15,
    data=pairs.DATA,
    expectations={"consistent": True, "shared_layer": "reader"},
    measure=_measure,
)
