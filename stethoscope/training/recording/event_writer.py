"""Writes TensorBoard event files without TensorFlow: scalars, histograms and starts, framed and checksummed by hand.

Every call is one record and one write, so a reader beside it never sees half of a moment unless the machine stops in it.
Source: tensorflow/core/lib/io/record_writer.h; tensorboard/compat/proto/event.proto, summary.proto, tensor.proto;
tensorboard/plugins/{scalar,histogram}/metadata.py.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

import numpy as np
import numpy.typing as npt

from stethoscope.models.containers.record_framing import masked
from stethoscope.models.containers.wire import encode_bytes, encode_varint

BUCKETS = 30
_FLOAT, _DOUBLE = 1, 2
_SCALAR_CLASS, _TENSOR_CLASS = 1, 2
_START = 1
"""SessionLog.START of event.proto."""


class EventWriter:
    """One event file of a run, new in `folder` and appended to until closed.

    Args:
        folder: made when it is not there; TensorBoard names the run after it.

    Raises:
        OSError: the folder or the file cannot be made; later, that it cannot be written to.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        # Readers take the files of a run in the order of their names.
        stem = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}"
        number = 0
        while (folder / f"{stem}.{number:03d}.v2").exists():
            number += 1
        self.path = folder / f"{stem}.{number:03d}.v2"
        self._stream = self.path.open("xb", buffering=0)
        # TensorBoard wants the version first, and in a record of its own.
        self._write(_double(1, time.time()) + encode_bytes(3, b"brain.Event:2"))

    def __enter__(self) -> EventWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def started(self, step: int, wall_time: float | None = None) -> None:
        """Says that a training begins here: what older files of the run have from this step on counts no longer.

        Args:
            step: the first one that may follow.
            wall_time: seconds since 1970; now when None.
        """
        self._event(step, wall_time, encode_bytes(7, _varint_field(1, _START)))

    def scalars(self, step: int, values: Mapping[str, float], wall_time: float | None = None) -> None:
        """Appends one value for each tag, stored as float32.

        Args:
            step: of all of them.
            values: by tag; NaN and infinities are kept. Nothing is written when there are none.
            wall_time: seconds since 1970; now when None.
        """
        if values:
            summary = b"".join(encode_bytes(1, _scalar(tag, value)) for tag, value in values.items())
            self._event(step, wall_time, encode_bytes(5, summary))

    def histograms(
        self, step: int, values: Mapping[str, npt.NDArray[np.float64]], wall_time: float | None = None
    ) -> None:
        """Appends one histogram for each tag.

        Args:
            step: of all of them.
            values: by tag, rows (left edge, right edge, count), of shape (buckets, 3), as `histogram` gives.
            wall_time: seconds since 1970; now when None.
        """
        if values:
            summary = b"".join(encode_bytes(1, _histogram(tag, rows)) for tag, rows in values.items())
            self._event(step, wall_time, encode_bytes(5, summary))

    def close(self) -> None:
        """Ends the file; a second call does nothing."""
        self._stream.close()

    def _event(self, step: int, wall_time: float | None, what: bytes) -> None:
        now = time.time() if wall_time is None else wall_time
        self._write(_double(1, now) + _varint_field(2, step) + what)

    def _write(self, event: bytes) -> None:
        whole = record(event)
        written = self._stream.write(whole)
        if written != len(whole):  # an unbuffered write stops where the disk is full
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))


def record(content: bytes) -> bytes:
    """One record: length, checksum of the length, content, checksum of the content."""
    length = struct.pack("<Q", len(content))
    return length + struct.pack("<I", masked(length)) + content + struct.pack("<I", masked(content))


def histogram(values: npt.NDArray[np.generic], buckets: int = BUCKETS) -> npt.NDArray[np.float64]:
    """Counts of the finite values in buckets of equal width.

    Args:
        values: any shape.
        buckets: how many, where the values differ; equal values come back as one bucket around them.

    Returns:
        Rows (left edge, right edge, count), of shape (buckets, 3); of shape (0, 3) without a finite value.
    """
    flat = np.asarray(values, np.float64).ravel()
    flat = flat[np.isfinite(flat)]
    if not flat.size:
        return np.zeros((0, 3))
    low, high = float(flat.min()), float(flat.max())
    if not np.isfinite(high - low) or low + (high - low) / buckets == low:
        around = max(0.5, 2 * float(np.spacing(max(abs(low), abs(high)))))
        return np.array([[low - around, high + around, flat.size]], np.float64)
    counts, edges = np.histogram(flat, bins=buckets, range=(low, high))
    return np.column_stack([edges[:-1], edges[1:], counts]).astype(np.float64)


def _scalar(tag: str, value: float) -> bytes:
    with np.errstate(over="ignore"):  # beyond float32 is infinite in the file, as TensorFlow writes it
        content = np.float32(value).tobytes()
    tensor = _varint_field(1, _FLOAT) + encode_bytes(2, b"") + encode_bytes(4, content)
    return (
        encode_bytes(1, tag.encode()) + encode_bytes(8, tensor) + encode_bytes(9, _metadata(b"scalars", _SCALAR_CLASS))
    )


def _histogram(tag: str, rows: npt.NDArray[np.float64]) -> bytes:
    shape = b"".join(encode_bytes(2, _varint_field(1, size)) for size in rows.shape)
    content = np.ascontiguousarray(rows, "<f8").tobytes()
    tensor = _varint_field(1, _DOUBLE) + encode_bytes(2, shape) + encode_bytes(4, content)
    return (
        encode_bytes(1, tag.encode())
        + encode_bytes(8, tensor)
        + encode_bytes(9, _metadata(b"histograms", _TENSOR_CLASS))
    )


def _metadata(plugin: bytes, data_class: int) -> bytes:
    return encode_bytes(1, encode_bytes(1, plugin)) + _varint_field(4, data_class)


def _varint_field(number: int, value: int) -> bytes:
    """A negative number stands as its two's complement in 64 bits."""
    return encode_varint(number << 3) + encode_varint(value & 0xFFFF_FFFF_FFFF_FFFF)


def _double(number: int, value: float) -> bytes:
    return encode_varint(number << 3 | 1) + struct.pack("<d", value)


TRAIN, VALIDATION = "train", "validation"


class RunFiles:
    """Makes files when there is something to write; a disk that fails ends the recording, never the training.

    Args:
        log_dir: holds the folders.
    """

    def __init__(self, log_dir: Path) -> None:
        self.log_dir = log_dir
        self.muted = False
        """Whether nothing is written, as by all but one of several machines that train together."""
        self._writers: dict[str, EventWriter] = {}
        self._first: Mapping[str, int] = {}
        self._failed = False

    def begin(self, first: Mapping[str, int]) -> None:
        """Later values go to new files.

        Args:
            first: by folder, the first step of its new file; what older files have from there on counts no longer.
        """
        self.close()
        self._first, self._failed = first, False

    def put(
        self,
        folder: str,
        step: int,
        values: Mapping[str, float],
        counts: Mapping[str, npt.NDArray[np.float64]] | None = None,
    ) -> None:
        """Writes scalars and histograms by tag; warns once when they cannot be written."""
        if self._failed or self.muted or not (values or counts):
            return
        try:
            if folder not in self._writers:
                self._writers[folder] = EventWriter(self.log_dir / folder)
                self._writers[folder].started(self._first.get(folder, step))
            self._writers[folder].scalars(step, values)
            self._writers[folder].histograms(step, counts or {})
        except OSError as error:
            self._failed = True
            warnings.warn(
                f"Recorder: nothing more is written to {self.log_dir}: {error}.", RuntimeWarning, stacklevel=2
            )

    def close(self) -> None:
        """Ends the files."""
        for writer in self._writers.values():
            writer.close()
        self._writers = {}
