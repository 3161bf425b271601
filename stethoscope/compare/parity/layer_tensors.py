"""What each layer of a model answers on a few rows, kept on disk and read where it is needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


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
