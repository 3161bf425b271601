"""Small compiled models with data, saved in a process of their own: the test process starts no TensorFlow."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
CODE = """
import sys, numpy as np, keras, tf_keras
from pathlib import Path
from sample_models.canonical import save_keras
folder = sys.argv[1]
rng = np.random.default_rng(0)
y = np.arange(69) % 3
x = rng.standard_normal((69, 4)).astype("float32")
x[:, :3] += np.eye(3)[y]
np.savez(folder + "/odd.npz", x=x, y=y)
np.savez(folder + "/even.npz", x=x[:64], y=y[:64])
for name, package, middle, jit in (
    ("plain", keras, lambda L: [], False),
    ("xla", keras, lambda L: [L.BatchNormalization()], True),
    ("old", tf_keras, lambda L: [L.BatchNormalization()], True),
    ("random", keras, lambda L: [L.Dropout(0.3)], False),
):
    package.utils.set_random_seed(0)
    L = package.layers
    model = package.Sequential([L.Input((4,)), L.Dense(8, activation="tanh"), *middle(L), L.Dense(3, activation="softmax")])
    model.compile(package.optimizers.SGD(0.1), "sparse_categorical_crossentropy", jit_compile=jit)
    save_keras(model, Path(folder, f"{name}.keras"))
"""


def save_all(folder: Path) -> Path:
    """plain, xla, old (Keras 2) and random .keras; odd.npz (69 rows) and even.npz (64)."""
    subprocess.run([sys.executable, "-c", CODE, str(folder)], check=True, capture_output=True, cwd=PROJECT)
    return folder
