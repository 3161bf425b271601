"""Decode what training logs hold besides scalars: histograms, images, texts, precision–recall curves and graphs of one tag.

Histograms of many steps over the same bins, so that they can be drawn beside and over each other.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stethoscope.errors import BadInput
from stethoscope.logs.media_values import (
    EncodedImages,
    Graph,
    Histogram,
    PrecisionRecall,
    Texts,
    Value,
    drawn,
    media_value,
)
from stethoscope.logs.walk import log_place
from stethoscope.models.containers.record_framing import FOOTER, masked
from stethoscope.models.containers.wire import Malformed
from stethoscope.task import TaskContext

KINDS = ("histogram", "image", "text", "pr_curve", "graph")
MAX_STEPS = {"histogram": 2_000, "image": 300, "text": 500, "pr_curve": 1_000, "graph": 20}
"""Records decoded at once of all runs together, by kind."""
MAX_RECORD_BYTES = 64 << 20
_MAX_IMAGES, _MAX_IMAGE_BYTES = 8, 192 << 20
"""Images of one record, and bytes of all that are answered."""


class FilePlace(NamedTuple):
    """Where in an array of bytes a file lies."""

    start: int
    size: int
    """In bytes."""


class ImagePlace(NamedTuple):
    """Where in images.npy an image lies, as PNG."""

    start: int
    size: int
    """In bytes."""
    width: int
    """Pixels across."""
    height: int
    """Pixels down."""


@dataclass(frozen=True)
class MediaPoint:
    """What a record holds at a step. Which of the fields say something follows from the kind of media."""

    step: int
    wall_time: float | None
    """Seconds since 1970; None where the log says none."""
    at: int = 0
    """Histograms and curves: the first of its rows in buckets.npy (left, right, count) or curves.npy (precision, recall)."""
    count: int = 0
    """How many rows."""
    images: tuple[ImagePlace, ...] = ()
    of: int = 0
    """How many images the record holds."""
    texts: tuple[str, ...] = ()
    shape: tuple[int, ...] = ()
    """Of the tensor of texts."""
    graph: FilePlace | None = None
    """A GraphDef in graphs.npy; None where the graph is described in `texts`."""


@dataclass(frozen=True)
class MediaRun:
    """What was decoded of one run. All text is hostile."""

    run: str
    points: tuple[MediaPoint, ...]
    """Ascending."""


@dataclass(frozen=True)
class DecodedMedia:
    """What was decoded of one tag; the arrays lie beside it: buckets, curves, images or graphs."""

    kind: str
    tag: str
    runs: tuple[MediaRun, ...]
    damaged: int
    """Records that could not be read."""
    left_out: int
    """Records that were too many."""


class ReadMedia:
    """Files: "logs", as in `read_runs`. Params: `kind`, `tag`, `runs`: per run its name, files and points.

    A point is [index into the run's files, first byte of the record's content, its bytes, step, wall time].
    """

    kind = "read_media"
    answer = DecodedMedia

    def run(self, context: TaskContext) -> DecodedMedia:
        """Decodes the records at the points.

        Raises:
            BadInput: the parameters are no such list.
        """
        kind, tag, runs = _asked(context.params)
        file = context.files["logs"]
        context.report("read", message=f"reading {tag} of {file.name}")
        place = log_place(file, context.folder)
        packed, damaged, left_out = _Packed(), 0, 0
        decoded: list[MediaRun] = []
        total = sum(len(run["points"]) for run in runs)
        for run in runs:
            points: list[MediaPoint] = []
            for point in run["points"]:
                packed.points += 1
                if packed.points > MAX_STEPS[kind] or packed.bytes > _MAX_IMAGE_BYTES:
                    left_out += 1
                    continue
                value = _value(place, run["files"], point, tag, kind)
                shown = None if value is None else packed.take(MediaPoint(point[3], point[4]), value)
                if shown is None:
                    damaged += 1
                    continue
                points.append(shown)
                if packed.points % 20 == 0:
                    context.report("read", packed.points / total, f"reading {tag} of {file.name}")
            decoded.append(MediaRun(run["run"], tuple(points)))
        for name, array in packed.arrays():
            context.save(name, array)
        return DecodedMedia(kind, tag, tuple(decoded), damaged, left_out)


class _Packed:
    """What was decoded, one after another."""

    def __init__(self) -> None:
        self.points = self.bytes = 0
        self._rows = {"buckets": 0, "curves": 0}
        self._parts: dict[str, list[Any]] = {"buckets": [], "curves": [], "images": [], "graphs": []}

    def take(self, point: MediaPoint, value: Value) -> MediaPoint | None:
        """Keeps a value; returns the point with what it says of it, or None when nothing of it can be shown."""
        if isinstance(value, Histogram):
            return self._table(point, "buckets", value.buckets)
        if isinstance(value, PrecisionRecall):
            return self._table(point, "curves", np.column_stack([value.precision, value.recall]))
        if isinstance(value, Texts):
            return replace(point, texts=value.texts, shape=value.shape)
        if isinstance(value, Graph):
            return replace(point, graph=self._file("graphs", value.content))
        images = tuple(self._images(value))
        return replace(point, images=images, of=len(value.files)) if images else None

    def arrays(self) -> Iterator[tuple[str, Any]]:
        """Names and contents of the arrays to save."""
        for name, parts in self._parts.items():
            if parts:
                yield name, np.concatenate(parts) if name in self._rows else np.frombuffer(b"".join(parts), np.uint8)

    def _table(self, point: MediaPoint, name: str, rows: Any) -> MediaPoint:
        at = self._rows[name]
        self._rows[name] += len(rows)
        self._parts[name].append(rows)
        return replace(point, at=at, count=len(rows))

    def _file(self, name: str, content: bytes) -> FilePlace:
        """Keeps the bytes of a file. One answer holds files of one kind."""
        at = self.bytes
        self._parts[name].append(content)
        self.bytes += len(content)
        return FilePlace(at, len(content))

    def _images(self, value: EncodedImages) -> Iterator[ImagePlace]:
        for content in value.files[:_MAX_IMAGES]:
            image = drawn(content)
            if image is not None:
                yield ImagePlace(*self._file("images", image.png), image.width, image.height)


def _value(place: Path, files: Sequence[str], point: Sequence[Any], tag: str, kind: str) -> Value | None:
    """What the record at a point holds; None when it is not there (any more) or is damaged."""
    path = _inside(place, files[point[0]])
    if path is None or point[2] > MAX_RECORD_BYTES:
        return None
    try:
        with path.open("rb", buffering=0) as stream:
            stream.seek(point[1])
            content = stream.read(point[2] + FOOTER)
        body = content[: point[2]]
        if masked(body) != int.from_bytes(content[point[2] :], "little"):
            return None
        return media_value(body, tag, kind)
    # A file that is followed may be gone or written anew since its records were found.
    except (FileNotFoundError, Malformed):
        return None


def _inside(place: Path, name: str) -> Path | None:
    """The file of that name in a folder, or the file itself; None when it lies elsewhere, by a link too."""
    if not place.is_dir():
        return place if name == place.name else None
    path = place / name
    inside = Path(os.path.realpath(path)).is_relative_to(os.path.realpath(place))
    return path if inside and path.is_file() else None


def _asked(params: Mapping[str, Any]) -> tuple[str, str, list[dict[str, Any]]]:
    kind, tag, runs = params.get("kind"), params.get("tag"), params.get("runs")
    if kind not in KINDS or not isinstance(tag, str) or not isinstance(runs, list):
        raise BadInput(
            f"read_media: expected a kind ({', '.join(KINDS)}), a tag and runs, got {kind!r}. Choose them again."
        )
    for run in runs:
        files = run.get("files")
        for point in run.get("points", ()):
            whole = len(point) == 5 and all(isinstance(number, int) and number >= 0 for number in point[:3])
            if not whole or not isinstance(point[3], int) or point[0] >= len(files):
                raise BadInput("read_media: expected points of a file, a place and a step. Choose the tag again.")
    return str(kind), tag, runs


TASK = ReadMedia()


Doubles = npt.NDArray[np.float64]


def common_edges(histograms: Sequence[Doubles], bins: int, trim_fraction: float = 0.0) -> Doubles:
    """Edges of equal bins over all values of histograms of the shape (buckets, 3): shape (bins + 1,).

    Args:
        histograms: left edge, right edge and count of every bucket.
        bins: how many.
        trim_fraction: the share of all values that may lie outside on either side; edges reach as far as the rest does.
    """
    filled = [whole(one) for one in histograms]
    every = np.concatenate([np.empty((0, 3)), *filled])
    if not len(every):
        return np.linspace(-0.5, 0.5, bins + 1)
    low, high = float(every[:, 0].min()), float(every[:, 1].max())
    if trim_fraction > 0:
        low, high = _quantile(every, trim_fraction, low), _quantile(every, 1 - trim_fraction, high)
    if high - low <= 1e-9 * max(abs(low), abs(high), 1e-300):
        half = max(abs(low), abs(high)) / 2 or 0.5
        low, high = low - half, high + half
    # Not high - low: both may be near the largest number there is.
    share = np.linspace(0, 1, bins + 1)
    return np.asarray(low * (1 - share) + high * share, np.float64)


def whole(histogram: Doubles) -> Doubles:
    """The buckets that hold something and whose edges are numbers, the lower one first."""
    buckets = histogram[(histogram[:, 2] > 0) & np.isfinite(histogram).all(axis=1)]
    return np.column_stack([np.sort(buckets[:, :2], axis=1), buckets[:, 2]])


def binned(histogram: Doubles, edges: Doubles) -> Doubles:
    """What share of the values falls into each bin: shape (bins,), the sum at most 1. Values of a bucket are spread evenly."""
    buckets, bins = whole(histogram), len(edges) - 1
    counts = np.zeros(bins)
    if not len(buckets):
        return counts
    total = buckets[:, 2].sum()
    # Halved, so that a width is a number wherever its ends are.
    left, right, count, edges = buckets[:, 0] / 2, buckets[:, 1] / 2, buckets[:, 2], edges / 2
    narrow = right - left <= (edges[-1] - edges[0]) * 1e-9
    at = np.clip(np.searchsorted(edges, left[narrow], "right") - 1, 0, bins - 1)
    inside = (left[narrow] >= edges[0]) & (left[narrow] <= edges[-1])
    np.add.at(counts, at[inside], count[narrow][inside])
    left, right, count = left[~narrow], right[~narrow], count[~narrow]
    below = (np.clip(edges[:, None], left, right) - left) / (right - left) @ count if len(left) else np.zeros(bins + 1)
    return np.asarray((counts + np.diff(below)) / total, np.float64)


def _quantile(buckets: Doubles, share: float, default: float) -> float:
    """The value below which this share of all lies."""
    left, right, count = buckets[np.argsort(buckets[:, 1], kind="stable")].T
    reached = np.cumsum(count)
    wanted = share * reached[-1]
    at = int(np.searchsorted(reached, wanted))
    if at >= len(reached) or not count[at]:
        return default
    within = 1 - (reached[at] - wanted) / count[at]
    return float(left[at] + within * (right[at] - left[at]))
