"""What each layer of a model answers on a few rows, kept on disk and read where it is needed.

What one model answered, outputs and layers, kept as files: another is compared with it later, in another process.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.codec import decode, plain
from stethoscope.compare.parity.precision import Way
from stethoscope.errors import StethoscopeError, UnreadableFile
from stethoscope.types import Feed, TensorSpec


@dataclass(frozen=True)
class Moments:
    """What an array is known by whatever the order of its axes."""

    count: int
    mean: float
    std: float
    low: float
    high: float
    finite: bool


@dataclass
class LayerTensors:
    """Arrays by key ("path", "path#2" for a second call, "path:1" for a second output), in execution order."""

    folder: Path
    moments: dict[str, Moments] = field(default_factory=dict)
    layers: dict[str, str] = field(default_factory=dict)
    """The layer's path by key."""
    quantised: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Lowest and highest value that a quantised tensor can stand for, by key."""
    steps: dict[str, float] = field(default_factory=dict)
    """The step between two values of a quantised tensor, by key."""
    moved: dict[str, float] = field(default_factory=dict)
    """By what share of itself an answer is another when the model is asked again, by key; empty where it is always the same."""
    _files: dict[str, Path] = field(default_factory=dict)

    def add(self, key: str, layer: str, array: npt.NDArray[Any]) -> None:
        """Keeps an array of numbers; others are passed over."""
        if array.dtype.kind not in "fiub" or array.size == 0 or array.ndim == 0:
            return
        values = array.astype(np.float32) if array.dtype.kind != "f" or array.dtype.itemsize != 4 else array
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{len(self._files)}.npy"
        np.save(path, values, allow_pickle=False)
        self._files[key], self.layers[key], self.moments[key] = path, layer, moments_of(values)

    def index(self) -> dict[str, Any]:
        """All but the arrays, as JSON values: `restored` is its inverse."""
        return {
            "keys": list(self._files),
            "layers": self.layers,
            "moments": {key: list(astuple(one)) for key, one in self.moments.items()},
            "quantised": self.quantised,
            "steps": self.steps,
            "moved": self.moved,
        }

    @classmethod
    def restored(cls, folder: Path, index: Mapping[str, Any]) -> LayerTensors:
        """The tensors whose arrays are in `folder`."""
        return cls(
            folder,
            {key: Moments(*one) for key, one in index["moments"].items()},
            dict(index["layers"]),
            {key: (low, high) for key, (low, high) in index["quantised"].items()},
            dict(index["steps"]),
            dict(index["moved"]),
            {key: folder / f"{place}.npy" for place, key in enumerate(index["keys"])},
        )

    def __contains__(self, key: str) -> bool:
        return key in self._files

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def read(self, key: str) -> npt.NDArray[np.float32]:
        """The array of a key."""
        found: npt.NDArray[np.float32] = np.load(self._files[key], mmap_mode="r", allow_pickle=False)
        return found

    def keys_of(self, layer: str) -> list[str]:
        """The keys of a layer, in order."""
        return [key for key, path in self.layers.items() if path == layer]


def moments_of(values: npt.NDArray[Any]) -> Moments:
    """Moments of an array with at least one value."""
    finite = np.isfinite(values)
    good = values if finite.all() else values[finite]
    if not good.size:
        return Moments(values.size, 0.0, 0.0, 0.0, 0.0, False)
    return Moments(
        values.size,
        float(good.mean(dtype=np.float64)),
        float(good.std(dtype=np.float64)),
        float(good.min()),
        float(good.max()),
        good.size == values.size,
    )


def near(one: Moments, other: Moments, share: float) -> bool:
    """Whether two arrays may be the same, up to a share of their spread."""
    if one.count != other.count:
        return False
    room = share * max(one.std, abs(one.mean) * 1e-3, 1e-12)
    return abs(one.mean - other.mean) <= room and abs(one.std - other.std) <= room


Clipped = tuple[float, float, float]
"""(lowest, highest value that an input holds, share of the values beyond)."""
_INDEX = "recording.json"
_FEEDS = ("feed", "outputs", "predicted", "edges", "edge_outputs", "labelled_outputs", "targets")
_PLAIN = ("problem", "layer_rows", "source", "described", "time_s", "peak_bytes", "way", "notes", "clipped")


@dataclass
class Recording:
    """One model on some rows.

    `layers` holds what its layers answered to the first `layer_rows` of them; where they could not be read, it is empty
    and `problem` says why.
    """

    inputs: tuple[TensorSpec, ...]
    feed: Feed
    outputs: Feed
    places: npt.NDArray[np.int64]
    """Of the rows in the data."""
    layers: LayerTensors
    problem: str = ""
    layer_rows: int = 0
    source: str = "dummy"
    described: list[dict[str, Any]] = field(default_factory=list)
    predicted: Feed = field(default_factory=dict)
    """What `predict` answers to the first few rows; empty for what is no Keras model."""
    edges: Feed = field(default_factory=dict)
    """Rows at the edges of what can be given, as `edge_cases.EDGE_CASES` lists them; empty where there are none."""
    edge_outputs: Feed = field(default_factory=dict)
    labelled: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """Places of rows with labels that were predicted,"""
    labelled_outputs: Feed = field(default_factory=dict)
    """what was answered to them,"""
    targets: Feed = field(default_factory=dict)
    """and their labels, by output."""
    time_s: float = 0.0
    peak_bytes: int = 0
    way: Way = field(default_factory=Way)
    """How it was run."""
    notes: list[str] = field(default_factory=list)
    clipped: dict[str, Clipped] = field(default_factory=dict)
    """Of each quantised input that cut values of the feed off."""

    def save(self, folder: Path) -> None:
        """Writes everything but the layers, which are in a folder of their own below `folder` already."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in _FEEDS:
            for place, array in enumerate(getattr(self, name).values()):
                np.save(folder / f"{name}-{place}.npy", _storable(array), allow_pickle=False)
        index = {
            "inputs": [[spec.name, spec.shape, spec.dtype] for spec in self.inputs],
            **{name: list(getattr(self, name)) for name in _FEEDS},
            "places": self.places.tolist(),
            "labelled": self.labelled.tolist(),
            "layers": self.layers.index(),
            **{name: plain(getattr(self, name)) for name in _PLAIN},
        }
        (folder / _INDEX).write_text(json.dumps(index))

    @classmethod
    def load(cls, folder: Path) -> Recording:
        """Reads what `save` wrote.

        Raises:
            UnreadableFile: it is no recording, or a part of it is missing.
        """
        try:
            index = json.loads((folder / _INDEX).read_text())
            feeds: dict[str, Feed] = {
                name: {
                    str(key): np.load(folder / f"{name}-{place}.npy", allow_pickle=False)
                    for place, key in enumerate(index[name])
                }
                for name in _FEEDS
            }
            inputs = tuple(
                TensorSpec(name, None if shape is None else tuple(shape), dtype)
                for name, shape, dtype in index["inputs"]
            )
            return cls(
                inputs=inputs,
                feed=feeds["feed"],
                outputs=feeds["outputs"],
                predicted=feeds["predicted"],
                edges=feeds["edges"],
                edge_outputs=feeds["edge_outputs"],
                labelled_outputs=feeds["labelled_outputs"],
                targets=feeds["targets"],
                places=np.asarray(index["places"], np.int64),
                labelled=np.asarray(index["labelled"], np.int64),
                layers=LayerTensors.restored(folder / "layers", index["layers"]),
                **{name: index[name] for name in _PLAIN} | {"way": decode(Way, index["way"])},
            )
        except (OSError, ValueError, KeyError, TypeError, StethoscopeError) as error:
            raise UnreadableFile(
                f"The answers of the first model: expected a recording, got something else ({type(error).__name__}). Compare again."
            ) from error


def _storable(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Text as fixed-width unicode, and types that numpy's files do not know as float32: nothing is pickled."""
    if array.dtype.kind in "OS":
        return np.asarray(
            [one.decode("utf-8", "replace") if isinstance(one, bytes) else str(one) for one in array.reshape(-1)]
        ).reshape(array.shape)
    return array.astype(np.float32) if array.dtype.kind == "V" or array.dtype.name == "bfloat16" else array
