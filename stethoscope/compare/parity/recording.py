"""What one model answered, outputs and layers, kept as files: another is compared with it later, in another process."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.codec import decode, plain
from stethoscope.compare.parity.layer_tensors import LayerTensors
from stethoscope.compare.parity.ways import Way
from stethoscope.errors import StethoscopeError, UnreadableFile
from stethoscope.types import Feed, TensorSpec

_INDEX = "recording.json"
_FEEDS = ("feed", "outputs", "edges", "edge_outputs")
_PLAIN = (
    "problem", "layer_rows", "source", "labels", "described", "time_s", "peak_bytes", "way", "notes",
)  # fmt: skip


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
    labels: list[str | float] | None = None
    described: list[dict[str, Any]] = field(default_factory=list)
    edges: Feed = field(default_factory=dict)
    """Rows at the edges of what can be given, as `edge_cases.EDGE_CASES` lists them; empty where there are none."""
    edge_outputs: Feed = field(default_factory=dict)
    time_s: float = 0.0
    peak_bytes: int = 0
    way: Way = field(default_factory=Way)
    """How it was run."""
    notes: list[str] = field(default_factory=list)

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
                edges=feeds["edges"],
                edge_outputs=feeds["edge_outputs"],
                places=np.asarray(index["places"], np.int64),
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
