"""Models that keep a state between calls answer as if nobody had asked them before, and say that they keep one."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.codec import answer_of
from stethoscope.compare.consistency.report import ConsistencyReport
from stethoscope.compare.parity.comparison import Comparison
from stethoscope.memory.prediction import Prediction
from stethoscope.types import Budget, Job, ModelFile, Status
from tests.deterministic import begin, save
from tests.frameworks import keras

SEQUENCES = np.random.default_rng(0).random((6, 5, 3)).astype(np.float32)
FLAT = SEQUENCES[:, 0]


def recurrent(folder):
    """(file, rows, what a model that was just loaded answers to them, one after another)."""
    begin(2)
    x = keras.Input(batch_shape=(1, 5, 3), name="x")
    both = [
        keras.layers.LSTM(6, stateful=True, name="lstm")(x),
        keras.layers.Bidirectional(keras.layers.GRU(4, stateful=True), name="both")(x),
    ]
    model = keras.Model(x, keras.layers.Dense(2, name="last")(keras.layers.Concatenate()(both)))
    save(model, folder / "model.keras")
    return folder / "model.keras", SEQUENCES, np.concatenate([model(row[None]).numpy() for row in SEQUENCES])


def counting(folder):
    """A SavedModel that remembers a mean of what it has seen."""
    import tensorflow as tf

    class Mean(tf.Module):
        def __init__(self):
            super().__init__()
            self.seen = tf.Variable(tf.zeros([3]), trainable=False)

        @tf.function
        def __call__(self, x):
            self.seen.assign(0.5 * self.seen + tf.reduce_mean(x, 0))
            return {"y": x + self.seen}

    module = Mean()
    signature = module.__call__.get_concrete_function(tf.TensorSpec([None, 3], tf.float32, name="x"))
    tf.saved_model.save(module, folder / "saved", signatures=signature)
    return folder / "saved", FLAT, signature(x=tf.constant(FLAT))["y"].numpy()


def converted(folder):
    """The same in TFLite, with a resource variable that CALL_ONCE fills."""
    import tensorflow as tf

    path, rows, answer = counting(folder)
    converter = tf.lite.TFLiteConverter.from_saved_model(str(path))
    converter.experimental_enable_resource_variables = True
    (folder / "model.tflite").write_bytes(converter.convert())
    return folder / "model.tflite", rows, answer


@pytest.mark.parametrize("build", [recurrent, counting, converted])
def test_a_state_is_that_of_a_model_just_loaded(engine, tmp_path, build):
    path, rows, expected = build(tmp_path)
    np.savez(tmp_path / "rows.npz", x=rows)
    model = ModelFile.at(path)
    worker = "light" if path.suffix == ".tflite" else "tensorflow"

    def asked(kind, files, params):
        result = engine.wait(engine.submit(Job(kind, {"model": model, **files}, params, Budget(3 << 30, 120), worker)))
        assert result.status is Status.OK, result.reason
        return result

    predicted = asked("predict", {"data": ModelFile.at(tmp_path / "rows.npz")}, {"batch_size": 6})
    (output,) = answer_of(predicted, Prediction).outputs.values()
    np.testing.assert_allclose(np.load(predicted.files[output.path]), expected, atol=1e-6)
    assert answer_of(asked("compare", {"other": model}, {"rows": 4}), Comparison).verdict == "equal"
    report = answer_of(asked("consistency", {}, {"runs": 2}), ConsistencyReport)
    failed = {one.id: one for one in report.tests if one.passed is False}
    assert "same-input-tolerance" not in failed
    assert failed["same-after-others"].layer
