"""Ways people write logs: each makes the callbacks of one training for one folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def tensorboard(place: Path) -> Sequence[Any]:
    """Keras' TensorBoard callback, one point per epoch."""
    import keras

    return [keras.callbacks.TensorBoard(str(place), write_graph=False)]


def tensorboard_batches(place: Path) -> Sequence[Any]:
    """Keras' TensorBoard callback with a point per batch too: its batch_loss is the mean of the epoch so far."""
    import keras

    return [keras.callbacks.TensorBoard(str(place), write_graph=False, update_freq="batch")]


def table(place: Path) -> Sequence[Any]:
    """Keras' CSVLogger."""
    import keras

    place.mkdir(parents=True, exist_ok=True)
    return [keras.callbacks.CSVLogger(str(place / "training.csv"), append=(place / "training.csv").exists())]


def history(place: Path) -> Sequence[Any]:
    """What `fit` returns, written as JSON at the end."""
    import keras

    place.mkdir(parents=True, exist_ok=True)

    class WriteHistory(keras.callbacks.Callback):
        def __init__(self) -> None:
            super().__init__()
            self.seen: dict[str, list[float]] = {}

        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            for key, value in (logs or {}).items():
                self.seen.setdefault(key, []).append(float(value))

        def on_train_end(self, logs: Any = None) -> None:
            (place / "history.json").write_text(json.dumps(self.seen))

    return [WriteHistory()]


def summaries(place: Path) -> Sequence[Any]:
    """A callback of one's own with `tf.summary`: everything in one run, with the names people choose."""
    import keras
    import tensorflow as tf

    class WriteSummaries(keras.callbacks.Callback):
        def on_train_begin(self, logs: Any = None) -> None:
            self.writer = tf.summary.create_file_writer(str(place))

        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            with self.writer.as_default(step=epoch):
                for key, value in (logs or {}).items():
                    held = key.startswith("val_")
                    tf.summary.scalar(f"{'val' if held else 'train'}/{key.removeprefix('val_')}", value)
                tf.summary.scalar("train/lr", self.model.optimizer.learning_rate)

        def on_train_end(self, logs: Any = None) -> None:
            self.writer.close()

    return [WriteSummaries()]


def recorder(place: Path) -> Sequence[Any]:
    """Our own Recorder."""
    from stethoscope.keras import Recorder

    return [Recorder(place)]
