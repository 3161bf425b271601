"""Small models of every format, opened to be converted. Needs TensorFlow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from stethoscope.compare.convert.converter import Converter, Made, Options, Source
from stethoscope.compare.convert.made_file import fed_as, paired
from stethoscope.models.formats import detect
from stethoscope.types import Feed, ModelFile


@dataclass(frozen=True)
class Rows:
    """Rows for calibration."""

    feed: Feed
    source: str = "rows.npz"
    in_call: int = 1

    @property
    def rows(self) -> int:
        return len(next(iter(self.feed.values())))

    def feeds(self) -> Iterator[Feed]:
        for place in range(0, self.rows, self.in_call):
            yield {name: array[place : place + self.in_call] for name, array in self.feed.items()}


@contextmanager
def opened(path: Path, feed: Feed, scratch: Path) -> Iterator[Source]:
    """A file as a source with these rows."""
    file = ModelFile.at(path) if path.is_file() else ModelFile(path, path.name)
    kind = detect(file)
    architecture = kind.describe(file)
    scratch.mkdir(parents=True, exist_ok=True)
    with kind.open(file, scratch, trusted=True) as runner:
        yield Source(file, architecture, runner, Rows(feed))


def converted(converter: Converter, source: Source, folder: Path, options: Options | None = None) -> Made:
    """Converts into a folder that is made for it."""
    folder.mkdir(parents=True, exist_ok=True)
    return converter.convert(source, options or Options(), folder, lambda *_: None)


def answers(made: Made, source: Source, feed: Feed, scratch: Path) -> Feed:
    """What the converted file says to a feed of the source's, by the source's names."""
    file = ModelFile(made.path, made.path.name)
    scratch.mkdir(parents=True, exist_ok=True)
    with detect(file).open(file, scratch, trusted=True) as runner:
        fed = fed_as(feed, made, source.runner.inputs, runner.inputs)
        names = paired(
            [one.name for one in runner.outputs],
            made.outputs,
            made.output_order,
            [one.name for one in source.runner.outputs],
        )
        return {names[name]: array for name, array in runner.predict(fed).items()}


def two_ends() -> tuple[Any, Feed]:
    """A Keras 3 model with two inputs and two outputs, and rows for it."""
    import keras

    keras.utils.set_random_seed(1)
    left, right = keras.Input((4,), name="left"), keras.Input((3,), name="right")
    joined = keras.layers.Dense(6, "relu", name="joined")(keras.layers.Concatenate()([left, right]))
    outputs = {
        "kind": keras.layers.Dense(3, "softmax", name="kind")(joined),
        "size": keras.layers.Dense(1, name="size")(joined),
    }
    draws = np.random.default_rng(2)
    feed = {"left": draws.normal(size=(6, 4)).astype(np.float32), "right": draws.normal(size=(6, 3)).astype(np.float32)}
    return keras.Model([left, right], outputs), feed
