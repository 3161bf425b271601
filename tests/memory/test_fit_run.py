"""The lines that are printed do what was measured: training computes the same, with layers computed again."""

from __future__ import annotations

import json
import subprocess
import sys

from stethoscope.memory.fit_changes import fit_changes

PROGRAM = """
import json, sys
import numpy as np, tensorflow as tf, keras
def build_model():
    keras.utils.set_random_seed(0)
    start = keras.Input((6, 8))
    x = keras.layers.Dense(8, activation="gelu")(keras.layers.MultiHeadAttention(2, 4)(start, start))
    x = keras.layers.BatchNormalization()(keras.layers.Dropout(0.5)(x))
    return keras.Model(start, keras.layers.Dense(1)(x))
def losses(model):
    keras.utils.set_random_seed(1)
    model.compile(keras.optimizers.SGD(0.1), "mse")
    x = np.random.default_rng(0).random((32, 6, 8), dtype="float32")
    return model.fit(x, x[..., :1], batch_size=8, epochs=3, shuffle=False, verbose=0).history["loss"]
as_it_is = losses(build_model())
for code in json.loads(sys.argv[1]):
    names = {**globals(), "model": build_model()}
    exec(code, names)
    np.testing.assert_allclose(losses(names["model"]), as_it_is, rtol=1e-4)
"""


def test_what_is_printed_trains_as_before():
    codes = {change.id: change.code for change in fit_changes("Adam", 8, modern=True)}
    asked = json.dumps([codes["checkpoint-activations"], codes["checkpoint-layers"]])
    done = subprocess.run([sys.executable, "-c", PROGRAM, asked], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
