"""HDF5 files, read within bounds: hard links only, nothing outside the file, declared bytes counted, no weights touched."""

from __future__ import annotations

import bisect
import functools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import IO, Any

from stethoscope.errors import StethoscopeError, TooLarge, UnreadableFile, UnsafeFile
from stethoscope.models.containers import damage

SIGNATURE = b"\x89HDF\r\n\x1a\n"
_MAX_OBJECTS = 500_000
_MAX_DEPTH = 64
_MAX_ATTRIBUTE_ITEMS = 1 << 20


def has_signature(path: Path) -> bool:
    """Whether the HDF5 signature is at one of the places the format allows it."""
    with path.open("rb") as stream:
        for offset in (0, 512, 1024, 2048):
            stream.seek(offset)
            if stream.read(len(SIGNATURE)) == SIGNATURE:
                return True
    return False


@dataclass(frozen=True)
class StoredArray:
    """One dataset, as declared: nothing of it was read. `dtype` is numpy's name, or "bfloat16"/"string" where numpy has none."""

    path: str
    shape: tuple[int, ...]
    dtype: str
    itemsize: int

    @property
    def count(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def size_bytes(self) -> int:
        """Declared bytes, whatever is stored."""
        return self.count * self.itemsize


@dataclass
class Tree:
    """What an HDF5 file holds: `arrays` by path (no leading slash, in file order) and every group's path."""

    arrays: dict[str, StoredArray] = field(default_factory=dict)
    groups: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    """The `name` attribute of groups that have one: Keras 3 notes the layer's name there."""
    weight_names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The `weight_names` attribute of groups that have one: Keras' own `.h5` layout."""

    @functools.cached_property
    def group_set(self) -> frozenset[str]:
        """The groups, for looking up."""
        return frozenset(self.groups)

    def under(self, prefix: str) -> list[StoredArray]:
        """Arrays in `prefix` and below it."""
        start = prefix.rstrip("/") + "/" if prefix else ""
        first = bisect.bisect_left(self._sorted, start)
        last = bisect.bisect_left(self._sorted, start + "\U0010ffff")
        return [self.arrays[path] for path in self._sorted[first:last]]

    @functools.cached_property
    def _sorted(self) -> list[str]:
        return sorted(self.arrays)


@contextmanager
def reading(subject: str) -> Iterator[None]:
    """Turns what h5py raises on malformed bytes into `UnreadableFile`.

    Raises:
        UnreadableFile: h5py could not make sense of the bytes.
    """
    try:
        yield
    except StethoscopeError:
        raise
    except (OSError, RuntimeError, KeyError, ValueError, TypeError, IndexError, AttributeError, OverflowError) as error:
        detail = " ".join(str(error).split())[:160]
        raise UnreadableFile(
            f"{subject}: expected a readable HDF5 file, got damaged or truncated bytes ({detail}). "
            "Save the model again or repeat the upload."
        ) from error
    except MemoryError as error:
        raise TooLarge(
            f"{subject}: an HDF5 header asks for more memory than there is. Save the model again."
        ) from error


@contextmanager
def open_h5(subject: str, source: str | IO[bytes]) -> Iterator[Any]:
    """Opens an HDF5 file (path or seekable stream) for reading, and yields the `h5py.File`.

    Raises:
        UnreadableFile: not HDF5, truncated or damaged.
    """
    import h5py

    with reading(subject), h5py.File(source, "r", locking=False) as opened:
        yield opened


def survey(subject: str, group: Any) -> Tree:
    """Walks everything below `group` (an `h5py.Group`) without following anything that leaves the file.

    Raises:
        UnsafeFile: a soft or external link, external or virtual storage.
        TooLarge: more objects, nesting or declared bytes than `limits` allow.
    """
    import h5py

    tree = Tree()
    seen = {_address(group)}
    total = 0
    # (low-level group, its path, depth); a list instead of recursion, so that nesting cannot exhaust the stack.
    waiting: list[tuple[Any, str, int]] = [(group.id, "", 0)]
    while waiting:
        gid, path, depth = waiting.pop()
        if depth > _MAX_DEPTH:
            raise TooLarge(f"{subject}: HDF5 groups are nested more than {_MAX_DEPTH} deep. No model needs that.")
        _note_attributes(h5py, subject, tree, gid, path)
        inner: list[tuple[Any, str, int]] = []
        for raw in gid:
            name = raw.decode("utf-8", "replace")
            child = f"{path}/{name}" if path else name
            kind = gid.links.get_info(raw).type
            if kind != h5py.h5l.TYPE_HARD:
                what = "an external link to another file" if kind == h5py.h5l.TYPE_EXTERNAL else "a soft link"
                raise UnsafeFile(f"{subject}: HDF5 object {child!r} is {what}. Weights must be in the file itself.")
            thing = h5py.h5o.open(gid, raw)
            if isinstance(thing, h5py.h5g.GroupID):
                address = _address_of(h5py, thing)
                if address in seen:
                    raise UnsafeFile(
                        f"{subject}: HDF5 group {child!r} is linked twice or contains itself. Save the model again."
                    )
                seen.add(address)
                tree.groups.append(child)
                inner.append((thing, child, depth + 1))
            elif isinstance(thing, h5py.h5d.DatasetID):
                array = _declared(h5py, subject, child, thing)
                tree.arrays[child] = array
                total += array.size_bytes
                if total > damage.MAX_WEIGHT_BYTES:
                    raise TooLarge(
                        f"{subject}: HDF5 dataset {child!r} of shape {array.shape} brings the declared weights to "
                        f"{total:,} bytes, expected at most {damage.MAX_WEIGHT_BYTES:,}. The file does not hold that much."
                    )
            if len(tree.groups) + len(tree.arrays) > _MAX_OBJECTS:
                raise TooLarge(f"{subject}: holds more than {_MAX_OBJECTS:,} HDF5 objects. A model has a few thousand.")
        waiting.extend(reversed(inner))
    return tree


def attribute(subject: str, thing: Any, name: str) -> Any:
    """Returns one attribute as text, tuple of texts, or number; None when absent.

    Keras splits long lists into `name0`, `name1`, …: they are joined.

    Raises:
        TooLarge: it declares more than `limits.MAX_CONFIG_BYTES` or a million items.
    """
    import h5py

    if not h5py.h5a.exists(thing.id, name.encode()):
        parts: list[str] = []
        for index in range(_MAX_ATTRIBUTE_ITEMS):
            if not h5py.h5a.exists(thing.id, f"{name}{index}".encode()):
                break
            piece = attribute(subject, thing, f"{name}{index}")
            parts.extend(piece if isinstance(piece, tuple) else [str(piece)])
        return tuple(parts) if parts else None
    handle = h5py.h5a.open(thing.id, name.encode())
    items = prod(handle.shape or (1,))
    declared = items * int(handle.get_type().get_size())
    if declared > damage.MAX_CONFIG_BYTES or items > _MAX_ATTRIBUTE_ITEMS:
        raise TooLarge(f"{subject}: HDF5 attribute {name!r} declares {declared:,} bytes. Save the model again.")
    return _plain(thing.attrs[name])


def _plain(value: Any) -> Any:
    import numpy as np

    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, np.ndarray):
        return tuple(
            item.decode("utf-8", "replace") if isinstance(item, bytes) else str(item) for item in value.ravel()
        )
    if isinstance(value, np.generic):
        return _plain(value.item())
    return value


def _note_attributes(h5py: Any, subject: str, tree: Tree, gid: Any, path: str) -> None:
    group = h5py.Group(gid)
    name = attribute(subject, group, "name") if h5py.h5a.exists(gid, b"name") else None
    if isinstance(name, str):
        tree.names[path] = name
    if h5py.h5a.exists(gid, b"weight_names") or h5py.h5a.exists(gid, b"weight_names0"):
        listed = attribute(subject, group, "weight_names")
        tree.weight_names[path] = listed if isinstance(listed, tuple) else ()


def _declared(h5py: Any, subject: str, path: str, dataset: Any) -> StoredArray:
    plan = dataset.get_create_plist()
    if plan.get_external_count():
        raise UnsafeFile(
            f"{subject}: HDF5 dataset {path!r} keeps its data in another file. Weights must be in the file itself."
        )
    if plan.get_layout() == h5py.h5d.VIRTUAL:
        raise UnsafeFile(
            f"{subject}: HDF5 dataset {path!r} is virtual, its data lies in other files. Save the model again."
        )
    # The size in the file, not h5py's dtype: building a hostile compound dtype can be slow.
    kind = dataset.get_type()
    text = isinstance(kind, h5py.h5t.TypeStringID)
    dtype = "string" if text else _dtype_name(dataset)
    return StoredArray(path, tuple(int(size) for size in dataset.shape or ()), dtype, int(kind.get_size()))


def _dtype_name(dataset: Any) -> str:
    dtype = dataset.dtype
    return "bfloat16" if dtype.kind == "V" and dtype.itemsize == 2 else str(dtype.name)


def _address(group: Any) -> tuple[int, int]:
    import h5py

    return _address_of(h5py, group.id)


def _address_of(h5py: Any, gid: Any) -> tuple[int, int]:
    info = h5py.h5g.get_objinfo(gid)
    return tuple(info.fileno), tuple(info.objno)  # type: ignore[return-value]
