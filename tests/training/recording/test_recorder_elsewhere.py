"""Where layers cannot be measured, a training goes on as it would have, and one warning says what is missing."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings

import numpy as np
import pytest

import stethoscope.keras as ours
from stethoscope.logs.curves import layer_of
from stethoscope.training.recording import recorder as recorder_module
from stethoscope.training.recording.layer_looks import numbers
from tests.frameworks import keras, tf
from tests.training.recording.reading import scalars

ON_TWO_DEVICES = """
import json, sys, warnings
from pathlib import Path
import numpy as np
import tensorflow as tf

(processor,) = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(processor, [tf.config.LogicalDeviceConfiguration()] * 2)
import importlib
from stethoscope.keras import Recorder

x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
found = {}
package = importlib.import_module(sys.argv[2])
for devices in (["CPU:0", "CPU:1"], ["CPU:0"]):
    with tf.distribute.MirroredStrategy(devices).scope():
        layers = [package.layers.Dense(4, activation="relu", name="hidden"), package.layers.Dense(1, name="answer")]
        model = package.Sequential(layers)
        model.compile(package.optimizers.SGD(0.1), "mse")
    name = f"on {len(devices)}"
    recorder = Recorder(Path(sys.argv[1], name), every=2, histograms=True)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        history = model.fit(x, x[:, :1], batch_size=8, epochs=2, verbose=0, callbacks=[recorder]).history
    messages = [str(one.message) for one in said if issubclass(one.category, RuntimeWarning)]
    found[name] = {"said": messages, "loss": history["loss"]}
print(json.dumps(found))
"""


def fit(folder, x=None, **options):
    x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32") if x is None else x
    model = keras.Sequential([keras.layers.Dense(4, activation="relu", name="hidden"), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    recorder = ours.Recorder(folder, every=2)
    return model.fit(x, x[:, :1], batch_size=8, epochs=3, verbose=0, callbacks=[recorder], **options).history, recorder


@pytest.mark.parametrize("package", ["keras", pytest.param("tf_keras", marks=pytest.mark.sweep)])
def test_a_strategy_of_several_devices_keeps_its_curves(tmp_path, package):
    command = [sys.executable, "-c", ON_TWO_DEVICES, str(tmp_path), package]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert len(told) == 2
    for name, one in told.items():
        found = scalars(tmp_path / name / "train")
        assert list(found["epoch_loss"].values()) == pytest.approx(one["loss"], rel=1e-6)
        assert len(found["batch_loss"]) >= 8 and found["time/step_s"]
        several = name.endswith("2")
        assert any(layer_of(tag) for tag in found) is not several
        assert len(one["said"]) == int(several)
        assert all("replicas" in said and "Losses" in said for said in one["said"])


def test_another_backend_keeps_its_epochs(tmp_path, monkeypatch):
    monkeypatch.setattr(recorder_module, "trains_on_tensorflow", lambda model: False)
    with pytest.warns(RuntimeWarning, match="TensorFlow") as said:
        history, _ = fit(tmp_path, validation_split=0.25)
    assert len(said) == 1
    found = scalars(tmp_path / "train")
    assert list(found["epoch_loss"].values()) == pytest.approx(history["loss"], rel=1e-6)
    assert set(found) == {"epoch_loss", "epoch_learning_rate", "time/epoch_s"}
    assert len(scalars(tmp_path / "validation")["epoch_loss"]) == 3


def test_of_several_machines_one_writes(tmp_path, monkeypatch):
    monkeypatch.setattr(recorder_module, "writes_summaries", lambda model: False)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        history, _ = fit(tmp_path)
    assert len(history["loss"]) == 3 and list(tmp_path.iterdir()) == []


def test_logs_of_any_kind_are_sorted_out():
    given = {
        "loss": tf.constant(0.5),
        "half": tf.constant(0.5, tf.bfloat16),
        "count": np.int64(3),
        "done": True,
        "name": "a",
        "text": tf.constant("a"),
        "each": [1.0, 2.0],
        "uneven": [[1], [1, 2]],
        "vector": np.ones(3),
        "nothing": None,
    }
    assert numbers(given) == {"loss": 0.5, "half": 0.5, "count": 3.0, "done": 1.0}
    assert numbers(None) == {}


def test_data_of_unknown_length(tmp_path):
    def rows():
        for at in range(12):
            yield np.full((4, 4), at, "float32"), np.ones((4, 1), "float32")

    signature = tf.TensorSpec((4, 4)), tf.TensorSpec((4, 1))
    model = keras.Sequential([keras.layers.Dense(1, name="answer")])
    model.compile("sgd", "mse")
    data = tf.data.Dataset.from_generator(rows, output_signature=signature)
    model.fit(data, epochs=3, verbose=0, shuffle=False, callbacks=[ours.Recorder(tmp_path, every=4)])
    found = scalars(tmp_path / "train")
    assert len(found["epoch_loss"]) == 3 and len(found["gradient_norm/answer"]) >= 7
    assert max(found["batch_loss"]) <= int(model.optimizer.iterations.numpy())
