"""What happens to trainings from outside: begun anew, paused, written with gaps, copied."""

from __future__ import annotations

import dataclasses
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.curve_cases import writers
from benchmarks.curve_cases.case import Make
from benchmarks.curve_cases.material import Material
from benchmarks.curve_cases.training import Curves, Training, Writer, compiled, fit, material_of, seeded


def begun_anew(
    training: Training,
    at: int,
    back: int = 0,
    writer: Writer = writers.tensorboard,
    *,
    keep_weights: bool = False,
    then: Training | None = None,
    changed: Callable[[Material], Material] | None = None,
) -> Make:
    """Trains up to epoch `at`, then goes on at epoch `at` − `back` into the same log.

    Args:
        training: what to do; `epochs` counts both parts.
        at: epochs of the first part.
        back: epochs the second part repeats.
        writer: makes new callbacks for each part.
        keep_weights: whether the second part starts from the weights of the first; if not, from fresh ones.
        then: the training of the second part, where it is another one.
        changed: what the rows of the second part are.
    """

    def make(place: Path, seed: int) -> Sequence[Curves]:
        rows = material_of(training, seed)
        model, first = fit(training.but(epochs=at), seed, writer(place / "run"), name="run", material=rows)
        again = then or training
        if not keep_weights:
            seeded(seed + 1)
            model = compiled(again, rows)
        elif then is not None:
            fresh = compiled(again, rows)
            fresh.set_weights(model.get_weights())
            model = fresh
        time.sleep(1.1)  # event files are told apart by their second
        _, second = fit(
            again.but(epochs=training.epochs),
            seed,
            writer(place / "run"),
            name="run",
            model=model,
            first_epoch=at - back,
            material=changed(rows) if changed else rows,
        )
        return [_joined(first, second)]

    return make


def paused(seconds: float, epoch: int) -> Any:
    """A callback that does nothing for a while at the end of an epoch: the disk, the queue or the network hung."""
    import keras

    return keras.callbacks.LambdaCallback(
        on_epoch_begin=lambda at, logs=None: time.sleep(seconds) if at == epoch else None
    )


def losing(writer: Writer, first: int, last: int) -> Writer:
    """The same writer, which loses the epochs from `first` to `last`."""

    def make(place: Path) -> Sequence[Any]:
        inner = list(writer(place))
        for one in inner:
            whole = one.on_epoch_end

            def ended(epoch: int, logs: Any = None, whole: Any = whole) -> None:
                if not first <= epoch <= last:
                    whole(epoch, logs)

            one.on_epoch_end = ended
        return inner

    return make


def copied(training: Training, names: Sequence[str], writer: Writer = writers.tensorboard) -> Make:
    """Trains once; the folder is copied under the other names."""

    def make(place: Path, seed: int) -> Sequence[Curves]:
        first = fit(training, seed, writer(place / names[0]), name=names[0])[1]
        for name in names[1:]:
            shutil.copytree(place / names[0], place / name)
        return [dataclasses.replace(first, name=name) for name in names]

    return make


def _joined(one: Curves, two: Curves) -> Curves:
    later = one.seconds[-1] if one.seconds else 0.0
    return dataclasses.replace(
        one,
        loss=one.loss + two.loss,
        val_loss=one.val_loss + two.val_loss,
        metric=one.metric + two.metric,
        val_metric=one.val_metric + two.val_metric,
        seconds=one.seconds + tuple(later + second for second in two.seconds),
    )
