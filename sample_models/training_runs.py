"""The sample log of the Training page: real small trainings, three that went well and three with a fault.

`python -m sample_models.training_runs` trains them and writes `built/training_runs.logs.zip`. Event files as Keras'
TensorBoard callback leaves them (train and validation apart), with batch losses, weights as histograms, images of what
the network still gets wrong, and hyper-parameters.
"""

from __future__ import annotations

import struct
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sample_models import BUILT, datasets
from stethoscope.training.recording.event_writer import EventWriter, histogram, record

FILE = "training_runs.logs.zip"
_ZIP_DATE = (2026, 1, 1, 0, 0, 0)
_SHOWN = 4
_STRING = 7
"""DT_STRING."""


@dataclass(frozen=True)
class Training:
    """One run of the sample log."""

    run: str
    optimizer: str
    learning_rate: float
    epochs: int
    seed: int
    batch_size: int = 32
    units: int = 32
    rows: int = 0
    """Training rows; 0 for all."""
    wrong_labels: float = 0.0
    """Share of the training rows whose label was drawn anew."""
    growth: float = 1.0
    """What the learning rate is multiplied by after every epoch."""
    own_loss: bool = False
    """Whether the loss is written by hand, as -log(p) that nothing keeps from log(0)."""

    def parameters(self) -> Mapping[str, Any]:
        """What TensorBoard's HParams tab would show."""
        return {
            "optimizer": self.optimizer,
            "learning_rate": self.learning_rate,
            "rate_growth": self.growth,
            "wrong_labels": self.wrong_labels,
            "loss": "own_log_loss" if self.own_loss else "sparse_categorical_crossentropy",
            "batch_size": self.batch_size,
            "units": self.units,
            "training_rows": self.rows or 1347,
        }


TRAININGS = (
    Training("healthy/seed-1", "adam", 1e-3, 30, 1),
    Training("healthy/seed-2", "adam", 1e-3, 30, 2),
    Training("healthy/seed-3", "adam", 1e-3, 30, 3),
    Training("faulty/rate-too-high", "adam", 0.15, 30, 4),
    Training("faulty/nan", "adam", 1e-3, 24, 5, growth=1.5, own_loss=True),
    Training("faulty/overfitting", "adam", 4e-3, 60, 6, units=256, rows=150, wrong_labels=0.25),
)


def build(folder: Path = BUILT) -> Path:
    """Trains every run and packs the logs; returns the archive."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        for training in TRAININGS:
            _train(training, Path(place) / training.run)
        return _packed(Path(place), folder / FILE)


def _train(training: Training, folder: Path) -> None:
    import keras
    import tensorflow as tf

    keras.utils.set_random_seed(training.seed)
    data = datasets.digits()
    x, y = data.x_train, data.y_train
    if training.rows:
        x, y = x[: training.rows], y[: training.rows].copy()
    if training.wrong_labels:
        wrong = int(training.wrong_labels * len(y))
        y[:wrong] = np.random.default_rng(training.seed).integers(0, 10, wrong)
    model = keras.Sequential(
        [
            keras.layers.Input((8, 8, 1)),
            keras.layers.Conv2D(8, 3, activation="relu", name="edges"),
            keras.layers.Flatten(),
            keras.layers.Dense(training.units, activation="relu", name="hidden"),
            keras.layers.Dense(10, name="digit"),
        ]
    )
    made = {"adam": keras.optimizers.Adam, "sgd": keras.optimizers.SGD}[training.optimizer](training.learning_rate)

    def own_loss(truth: Any, logits: Any) -> Any:
        chosen = tf.one_hot(tf.cast(tf.reshape(truth, [-1]), tf.int32), 10)
        return -tf.reduce_sum(chosen * tf.math.log(tf.nn.softmax(logits)), axis=-1)

    loss = own_loss if training.own_loss else keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(made, loss, metrics=["accuracy"])
    writers = {name: EventWriter(folder / name) for name in ("train", "validation")}
    extras = {name: (folder / name / "extras.tfevents").open("wb") for name in writers}
    extras["train"].write(_event(0, _hyper_parameters(training.parameters())))

    class Watch(keras.callbacks.Callback):  # type: ignore[misc, name-defined]
        """Writes what a user's callbacks would."""

        seen = 0

        def on_train_batch_end(self, batch: int, logs: Mapping[str, float] | None = None) -> None:
            del batch
            if self.seen % 3 == 0:
                writers["train"].scalars(self.seen, {"batch_loss": (logs or {})["loss"]})
            self.seen += 1

        def on_epoch_end(self, epoch: int, logs: Mapping[str, float] | None = None) -> None:
            logs = logs or {}
            for name, prefix in (("train", ""), ("validation", "val_")):
                values = {f"epoch_{metric}": logs[prefix + metric] for metric in ("loss", "accuracy")}
                writers[name].scalars(epoch, values)
            rate = self.model.optimizer.learning_rate
            writers["train"].scalars(epoch, {"epoch_learning_rate": float(rate)})
            rate.assign(rate * training.growth)
            if epoch % 5 == 0:
                kernels = {
                    f"{layer.name}/kernel": np.asarray(layer.kernel) for layer in self.model.layers if layer.weights
                }
                writers["train"].histograms(epoch, {name: histogram(kernel) for name, kernel in kernels.items()})
            if epoch % 10 == 0:
                self.mistakes(epoch)

        def mistakes(self, epoch: int) -> None:
            """The held-out digits that cost most, as images."""
            logits = np.asarray(self.model(data.x_test, training=False))
            chosen = logits[np.arange(len(logits)), data.y_test]
            worst = np.argsort(np.nan_to_num(chosen - logits.max(axis=1)))[:_SHOWN]
            images = np.kron(data.x_test[worst], np.ones((1, 6, 6, 1), np.float32))
            pictures = [tf.io.encode_png(np.uint8(255 * image)).numpy() for image in images]
            extras["validation"].write(_event(epoch, _images("hardest_digits", images.shape[1], pictures)))

    model.fit(
        x,
        y,
        epochs=training.epochs,
        batch_size=training.batch_size,
        validation_data=(data.x_test, data.y_test),
        verbose=0,
        callbacks=[Watch()],
    )
    for stream in (*writers.values(), *extras.values()):
        stream.close()


def _event(step: int, summary: bytes) -> bytes:
    """One record of an event file."""
    return record(bytes([0x09]) + struct.pack("<d", time.time()) + bytes([0x10, *_varint(step)]) + _field(5, summary))


def _images(tag: str, size: int, pictures: list[bytes]) -> bytes:
    """A Summary with PNG images, each `size` pixels wide and high.

    Source: tensorboard/plugins/image/summary_v2.py; tensorflow/core/framework/tensor.proto.
    """
    texts = [str(size).encode(), str(size).encode(), *pictures]
    shape = _field(2, bytes([0x08, *_varint(len(texts))]))
    tensor = bytes([0x08, _STRING]) + _field(2, shape) + b"".join(_field(8, text) for text in texts)
    return _field(1, _field(1, tag.encode()) + _field(8, tensor) + _field(9, _field(1, _field(1, b"images"))))


def _hyper_parameters(values: Mapping[str, Any]) -> bytes:
    """A Summary with TensorBoard's record of hyper-parameters.

    Source: tensorboard/plugins/hparams/plugin_data.proto, summary.proto; google/protobuf/struct.proto.
    """
    entries = b"".join(
        _field(1, _field(1, name.encode()) + _field(2, _value(value))) for name, value in sorted(values.items())
    )
    plugin = _field(1, b"hparams") + _field(2, _field(3, entries))
    return _field(1, _field(1, b"_hparams_/session_start_info") + _field(9, _field(1, plugin)))


def _value(value: Any) -> bytes:
    return _field(3, value.encode()) if isinstance(value, str) else bytes([0x11]) + struct.pack("<d", float(value))


def _field(number: int, content: bytes) -> bytes:
    return bytes([number << 3 | 2]) + bytes(_varint(len(content))) + content


def _varint(value: int) -> Iterator[int]:
    while value > 0x7F:
        yield value & 0x7F | 0x80
        value >>= 7
    yield value


def _packed(place: Path, target: Path) -> Path:
    """The event files as a zip; their names lose the name of the machine that wrote them."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in sorted(path for path in place.rglob("*") if path.is_file()):
            part = 1 if path.name.startswith("extras") else 0
            name = path.relative_to(place).with_name(f"events.out.tfevents.1767225600.sample.{part}.v2")
            archive.writestr(zipfile.ZipInfo(name.as_posix(), _ZIP_DATE), path.read_bytes(), zipfile.ZIP_DEFLATED)
    return target


if __name__ == "__main__":
    sys.stdout.write(f"{build()}: {(BUILT / FILE).stat().st_size:,} bytes\n")
