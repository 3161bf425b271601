"""The same model with its weights left out: every group, attribute, shape and dtype stays, no data is stored.

Python that runs a Keras file.
"""

from __future__ import annotations

import io
import zipfile
from typing import Any

from stethoscope.models.containers import damage, hdf5
from stethoscope.models.containers.archive import Archive
from stethoscope.models.model_format import Program
from stethoscope.types import Architecture, ModelFile

_LEFT_OUT = frozenset({"optimizer_weights", "optimizer", "_optimizer"})
_MAX_HEADER_BYTES = 60_000


def zip_skeleton(file: ModelFile, archive: Archive) -> bytes:
    """Returns a `.keras` archive: the JSON members as they are, one weights file without data.

    Raises:
        UnreadableFile, UnsafeFile, TooLarge: as `Format.describe`.
    """
    from stethoscope.models.formats.keras_zip import member_stream, top_folder, weight_members

    root = top_folder(archive.names)
    weights = io.BytesIO()
    import h5py

    with h5py.File(weights, "w") as target:
        for name in weight_members(file, archive, root):
            subject = f"{file.name}, weights file {name!r}"
            with (
                member_stream(file, archive, name) as stream,
                hdf5.open_h5(subject, stream) as source,
                hdf5.reading(subject),
            ):
                hdf5.survey(subject, source)
                _copy(subject, source, target)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as out:
        for name in ("metadata.json", "config.json"):
            if root + name in archive.members:
                out.writestr(_entry(name), archive.read(root + name, damage.MAX_CONFIG_BYTES))
        out.writestr(_entry("model.weights.h5"), weights.getvalue())
    return packed.getvalue()


def h5_skeleton(file: ModelFile) -> bytes:
    """Returns an `.h5` file without data.

    Raises:
        UnreadableFile, UnsafeFile, TooLarge: as `Format.describe`.
    """
    import h5py

    out = io.BytesIO()
    with hdf5.open_h5(file.name, str(file.path)) as source, hdf5.reading(file.name), h5py.File(out, "w") as target:
        hdf5.survey(file.name, source)
        _copy(file.name, source, target)
    return out.getvalue()


def _entry(name: str) -> zipfile.ZipInfo:
    """A fixed date: the same model gives the same bytes."""
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def _copy(subject: str, source: Any, target: Any) -> None:
    """Copies a surveyed tree; `survey` has refused links and loops, so this ends."""
    import h5py

    _copy_attributes(subject, source, target)
    waiting = [(source, target)]
    while waiting:
        old, new = waiting.pop()
        for name, thing in old.items():
            if name in _LEFT_OUT and old.name == "/":
                continue
            if isinstance(thing, h5py.Group):
                group = new.require_group(name)
                _copy_attributes(subject, thing, group)
                waiting.append((thing, group))
            elif isinstance(thing, h5py.Dataset) and thing.shape is not None and name not in new:
                # Contiguous and never written: HDF5 allocates nothing.
                _copy_attributes(subject, thing, new.create_dataset(name, thing.shape, _storable(thing.dtype)))


def _storable(dtype: Any) -> Any:
    import h5py

    return h5py.string_dtype() if dtype.kind == "O" else dtype


def _copy_attributes(subject: str, source: Any, target: Any) -> None:
    import h5py
    import numpy as np

    for name in source.attrs:
        value = hdf5.attribute(subject, source, name)
        if isinstance(value, tuple):
            value = np.array(value, dtype=h5py.string_dtype()) if value else np.zeros(0)
            if value.size * 16 > _MAX_HEADER_BYTES:
                continue
        if value is not None:
            target.attrs[name] = value


def program(name: str, architecture: Architecture) -> Program:
    """See `Format.program`."""
    old = architecture.framework_version.startswith(("Keras 1", "Keras 2"))
    module = "tf_keras" if old else "keras"
    single = len(architecture.inputs) == 1
    feed = "next(iter(batch.values()))" if single else "list(batch.values())"
    return Program(
        (f"import {module}",),
        (f"model = {module}.models.load_model({name!r})",),
        (f"results.append(model({feed}, training=False))",),
    )
