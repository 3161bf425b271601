"""What the callback writes is one run to our readers, is the same to TensorBoard, and tells the checks what went wrong."""

from __future__ import annotations

import math

import numpy as np
import pytest

import stethoscope.keras as ours
from stethoscope.tasks.examine_runs import examine_runs, gather_logs, gather_runs
from tests.frameworks import keras
from tests.training.recording.reading import scalars

ROWS, BATCH, EPOCHS = 128, 16, 4
STEPS = ROWS // BATCH


def train(folder, rate=0.05, fits=1, model=None, **options):
    """A regression whose last layer is called "loss": names of layers must not be taken for losses."""
    random = np.random.default_rng(0)
    x = random.normal(size=(ROWS, 8)).astype("float32")
    y = x @ random.normal(size=(8, 1)).astype("float32")
    if model is None:
        layers = [keras.layers.Dense(16, activation="relu", name="hidden"), keras.layers.Dense(1, name="loss")]
        model = keras.Sequential(layers)
        model.compile(keras.optimizers.SGD(rate), "mse", metrics=["mae"])
    options = {"validation_data": (x, y), "batch_size": BATCH, "verbose": 0, "epochs": EPOCHS} | options
    for _ in range(fits):
        history = model.fit(x, y, callbacks=[ours.Recorder(folder, every=2)], **options).history
    return model, history


def tensorboard_reads(folder):
    """tag → (step, value) as TensorBoard's server holds them."""
    name = "tensorboard.backend.event_processing.plugin_event_accumulator"
    reader = pytest.importorskip(name).EventAccumulator(str(folder), tensor_size_guidance={"scalars": 0})
    reader.Reload()
    return {
        tag: [
            (one.step, float(np.frombuffer(one.tensor_proto.tensor_content, "<f4")[0])) for one in reader.Tensors(tag)
        ]
        for tag in reader.Tags()["tensors"]
    }


def test_a_recording_is_one_run_with_its_curves(tmp_path):
    _, history = train(tmp_path / "run")
    run = gather_logs(tmp_path)
    assert (run.run, run.unit, run.metric_name) == ("run", "epoch", "mae")
    assert run.steps == tuple(range(EPOCHS))
    assert run.loss == pytest.approx(history["loss"], rel=1e-6)
    assert run.val_loss == pytest.approx(history["val_loss"], rel=1e-6)
    assert run.learning_rate == pytest.approx([0.05] * EPOCHS)
    (log,) = gather_runs(tmp_path)
    assert log.health.problem == "" and log.health.restarts == ()
    gradient = log.series["train/gradient_norm/hidden"]
    assert gradient.step.tolist() == [2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32]
    # Steps of the measurements, epochs of the losses: the curve has both by epochs.
    assert run.signals["train/gradient_norm/hidden"].steps == tuple(epoch for epoch in range(EPOCHS) for _ in range(4))


def test_tensorboard_reads_the_same(tmp_path):
    train(tmp_path)
    for folder in ("train", "validation"):
        theirs, ours = tensorboard_reads(tmp_path / folder), scalars(tmp_path / folder)
        assert theirs == {tag: list(points.items()) for tag, points in ours.items()}


def test_a_training_begun_anew_replaces_the_old_one_everywhere(tmp_path):
    train(tmp_path)
    _, history = train(tmp_path, rate=0.01, epochs=2)
    run = gather_logs(tmp_path)
    assert run.loss == pytest.approx(history["loss"], rel=1e-6)
    (log,) = gather_runs(tmp_path)
    assert 0 in log.health.restarts
    theirs = tensorboard_reads(tmp_path / "train")
    assert [step for step, _ in theirs["epoch_loss"]] == [0, 1]
    assert [step for step, _ in theirs["gradient_norm/hidden"]] == list(range(2, 2 * STEPS + 1, 2))


def test_a_training_that_goes_on_keeps_what_was_there(tmp_path):
    model, _ = train(tmp_path)
    train(tmp_path, model=model, initial_epoch=EPOCHS, epochs=2 * EPOCHS)
    (log,) = gather_runs(tmp_path)
    assert log.health.restarts == ()
    assert log.series["train/epoch_loss"].step.tolist() == list(range(2 * EPOCHS))
    theirs = tensorboard_reads(tmp_path / "train")
    assert [step for step, _ in theirs["epoch_loss"]] == list(range(2 * EPOCHS))
    assert [step for step, _ in theirs["batch_loss"]] == list(range(2, 2 * EPOCHS * STEPS + 1, 2))


def test_steps_go_on_where_a_backup_ended(tmp_path):
    """The model is put back by another callback, after this one was told that the training begins."""

    class Interrupted(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            if epoch == 2:
                raise KeyboardInterrupt

    random = np.random.default_rng(0)
    x = random.normal(size=(ROWS, 4)).astype("float32")
    for more in ([Interrupted()], []):
        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, name="answer")])
        model.compile("sgd", "mse")
        callbacks = [
            ours.Recorder(tmp_path / "log", every=2),
            keras.callbacks.BackupAndRestore(tmp_path / "backup"),
            *more,
        ]
        try:
            model.fit(x, x[:, :1], epochs=EPOCHS, batch_size=BATCH, verbose=0, callbacks=callbacks)
        except KeyboardInterrupt:
            assert more
    found = scalars(tmp_path / "log" / "train")
    assert list(found["epoch_loss"]) == [0, 1, 2, 3]
    assert list(found["gradient_norm/answer"]) == list(range(2, EPOCHS * STEPS + 1, 2))


def test_the_checks_find_what_is_wrong_with_a_recorded_training(tmp_path):
    train(tmp_path / "good", epochs=12)
    train(tmp_path / "broken", rate=2.0)
    report = examine_runs(gather_runs(tmp_path))
    assert {finding.run for finding in report.findings if finding.severity >= 3} == {"broken"}
    worst = next(finding for finding in report.findings if finding.run == "broken")
    assert worst.check_id in ("nonfinite-training", "loss-diverging")
    (broken,) = (run for run in gather_runs(tmp_path) if run.run == "broken")
    assert any(math.isnan(value) or value > 1e3 for value in broken.series["train/gradient_norm/hidden"].value)
