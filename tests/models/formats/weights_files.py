"""Files of weights without a graph, made without a framework: one maker for each format that only holds weights."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from stethoscope.models.containers import sorted_table, wire
from stethoscope.models.formats.tf_graph import checkpoint_index, tf_proto

Arrays = Mapping[str, np.ndarray]
_NUMBERS = {tf_proto.dtype_name(number): number for number in range(1, 40)}


def dense(units: int = 10, seed: int = 0) -> dict[str, np.ndarray]:
    """Weights of two Dense layers."""
    random = np.random.default_rng(seed)
    return {
        "dense_2/kernel": random.normal(size=(4, 6)).astype("f"),
        "dense_2/bias": np.zeros(6, "f"),
        "dense_3/kernel": random.normal(size=(6, units)).astype("f"),
        "dense_3/bias": np.zeros(units, "f"),
    }


def h5(path: Path, arrays: Arrays) -> Path:
    """As `save_weights` of Keras 2 writes it."""
    layers: dict[str, list[str]] = {}
    for name in arrays:
        layers.setdefault(name.split("/")[0], []).append(f"{name}:0")
    with h5py.File(path, "w") as file:
        file.attrs["layer_names"] = [layer.encode() for layer in layers]
        file.attrs["keras_version"] = "2.15.0"
        for layer, names in layers.items():
            group = file.create_group(layer)
            group.attrs["weight_names"] = [name.encode() for name in names]
            for name in names:
                group[name] = arrays[name.removesuffix(":0")]
    return path


def numbered_h5(path: Path, arrays: Arrays, named: bool = True) -> Path:
    """As `save_weights` of Keras 3 writes it: arrays by number, groups by class, the layer's name beside them in later versions."""
    with h5py.File(path, "w") as file:
        numbers: dict[str, int] = {}
        for name, values in arrays.items():
            layer = name.split("/")[0]
            number = numbers.setdefault(layer, len(numbers))
            group = file.require_group(f"layers/dense_{number}/vars" if number else "layers/dense/vars")
            if named:
                group.attrs["name"] = layer
            group[str(len(group))] = values
    return path


def checkpoint(folder: Path, arrays: Arrays, prefix: str = "model.ckpt-1") -> Path:
    """As TensorFlow writes it; returns the index. An array is stored in slices of its rows where its name ends in `@2`: two of them."""
    folder.mkdir(parents=True, exist_ok=True)
    messages, entries, data = tf_proto.messages(), dict[bytes, bytes](), b""
    for name, values in arrays.items():
        key, parts = (name[:-2], np.array_split(values, int(name[-1]))) if name[-2:-1] == "@" else (name, [values])
        whole = _entry(values)
        start = 0
        for part in parts:
            entry = _entry(part)
            entry.offset, entry.size = len(data), part.nbytes
            data += part.tobytes()
            if len(parts) == 1:
                entries[key.encode()] = entry.SerializeToString()
                continue
            extents = ((start, len(part)), *((0, -1) for _ in values.shape[1:]))
            start += len(part)
            whole.slices.append(_slice(extents))
            entries[checkpoint_index.key_of_slice(key.encode(), extents)] = entry.SerializeToString()
            entries[key.encode()] = whole.SerializeToString()
    entries[b""] = messages.BundleHeaderProto(num_shards=1).SerializeToString()
    (folder / f"{prefix}.data-00000-of-00001").write_bytes(data)
    index = folder / f"{prefix}.index"
    index.write_bytes(table(entries))
    return index


def _entry(values: np.ndarray) -> Any:
    entry = tf_proto.messages().BundleEntryProto(dtype=_NUMBERS[values.dtype.name])
    for size in values.shape:
        entry.shape.dim.add(size=size)
    return entry


def _slice(extents: Sequence[tuple[int, int]]) -> bytes:
    axes = []
    for start, length in extents:
        body = b"" if length < 0 else b"\x08" + wire.encode_varint(start) + b"\x10" + wire.encode_varint(length)
        axes.append(wire.encode_bytes(1, body))
    return b"".join(axes)


def table(entries: Mapping[bytes, bytes]) -> bytes:
    """A LevelDB table of one block."""
    blocks = [_block(sorted(entries.items()))]
    index = _block([(max(entries), wire.encode_varint(0) + wire.encode_varint(len(blocks[0]) - 5))])
    handle = wire.encode_varint(len(blocks[0])) + wire.encode_varint(len(index) - 5)
    footer = (wire.encode_varint(0) * 2 + handle).ljust(40, b"\0")
    return b"".join((*blocks, index, footer, sorted_table.MAGIC))


def _block(items: Sequence[tuple[bytes, bytes]]) -> bytes:
    rows = [b"\0" + wire.encode_varint(len(key)) + wire.encode_varint(len(value)) + key + value for key, value in items]
    return b"".join(rows) + struct.pack("<II", 0, 1) + b"\0" + bytes(4)


def safetensors(path: Path, arrays: Arrays, metadata: Mapping[str, str] | None = None) -> Path:
    """As the library of that name writes it."""
    header: dict[str, Any] = {} if metadata is None else {"__metadata__": dict(metadata)}
    data = b""
    for name, values in arrays.items():
        kind = {"f": "F", "i": "I", "u": "U"}[values.dtype.kind] + str(8 * values.dtype.itemsize)
        header[name] = {
            "dtype": kind,
            "shape": list(values.shape),
            "data_offsets": [len(data), len(data) + values.nbytes],
        }
        data += values.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


def _checkpoint_folder(folder: Path, arrays: Arrays) -> Path:
    return checkpoint(folder / "checkpoint", arrays).parent


MAKERS: Mapping[str, Callable[[Path, Arrays], Path]] = {
    "weights_h5": lambda folder, arrays: h5(folder / "only.weights.h5", arrays),
    "checkpoint": _checkpoint_folder,
    "safetensors": lambda folder, arrays: safetensors(folder / "model.safetensors", arrays),
}
"""By the id of the format: a file or folder in a folder, of these arrays."""
