"""Media of event files, decoded one record at a time when somebody wants to see them: histograms, images, texts, curves.

Source: tensorboard/compat/proto/summary.proto (HistogramProto, Summary.Image), tensor.proto; how older histograms become
buckets: tensorboard/data_compat.py.

Images as a browser may get them: decoded within bounds and written anew, whatever bytes the log held.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stethoscope.logs.event_layout import FIXED_WIDTHS
from stethoscope.models.containers import damage
from stethoscope.models.containers.wire import BYTES, FIXED32, FIXED64, VARINT, Field, Malformed, fields

if TYPE_CHECKING:
    from PIL import Image


MAX_ELEMENTS = 1_000_000
"""Numbers of one tensor."""
MAX_TEXTS, MAX_TEXT_BYTES = 1_000, 100_000
_STRING = 7
_NUMBERS = (4, 5, 6)
"""Fields of a tensor that hold its numbers."""
_PR_ROWS = 6
_EVENT_GRAPH, _EVENT_META_GRAPH, _META_GRAPH_GRAPH = 4, 9, 2
"""Fields that hold graphs. Source: tensorboard/compat/proto/event.proto, meta_graph.proto."""

Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Histogram:
    """How often values fell into which bucket."""

    buckets: Doubles
    """Left edge, right edge and count of each: shape (buckets, 3). Edges may be equal: so many of just that value."""


@dataclass(frozen=True)
class EncodedImages:
    """Images of one step, as the bytes of their files."""

    width: int
    """As the log says, in pixels; 0 where it does not."""
    height: int
    files: tuple[bytes, ...]


@dataclass(frozen=True)
class Texts:
    """Texts of one step."""

    texts: tuple[str, ...]
    shape: tuple[int, ...]


@dataclass(frozen=True)
class PrecisionRecall:
    """Precision and recall of a binary classifier over its thresholds; both of the shape (thresholds,)."""

    precision: Doubles
    recall: Doubles


@dataclass(frozen=True)
class Graph:
    """The operations of a model."""

    content: bytes
    """A GraphDef, as a file with the suffix ".pb" would hold it."""


Value = Histogram | EncodedImages | Texts | PrecisionRecall | Graph


def media_value(content: bytes, tag: str, kind: str) -> Value | None:
    """The value of a tag in a record; None where it holds none of this kind.

    Args:
        content: the record's content.
        tag: as `Media.tag` has it: the tag in the record, perhaps after the name of a folder.
        kind: of `Media.kind`: "histogram", "image", "text", "pr_curve" or "graph". Keras' own description of a model, which is
            JSON, comes as text.

    Raises:
        Malformed: the bytes are no such value.
    """
    view = memoryview(content)
    named = {name: value for name, value in _values(view) if tag == name or tag.endswith(f"/{name}")}
    if not named:
        return _graph_of_event(view) if kind == "graph" else None
    value = named[max(named, key=len)]
    for item in fields(view, value.start, value.end):
        if item.kind != BYTES:
            continue
        if item.number == 4 and kind == "image":
            return _image(view, item)
        if item.number == 5 and kind == "histogram":
            return _histogram(view, item)
        if item.number == 8:
            return _tensor_value(view, item, kind)
    return None


def _values(view: memoryview) -> Iterator[tuple[str, Field]]:
    for summary in fields(view):
        if summary.number == 5 and summary.kind == BYTES:
            for value in fields(view, summary.start, summary.end):
                if value.number == 1 and value.kind == BYTES:
                    for item in fields(view, value.start, value.end):
                        if item.number == 1 and item.kind == BYTES:
                            yield bytes(view[item.start : item.end]).decode("utf-8", "replace"), value


def _graph_of_event(view: memoryview) -> Graph | None:
    """The graph that stands in a record beside the summary, alone or in a MetaGraphDef."""
    for item in fields(view):
        if item.number == _EVENT_GRAPH and item.kind == BYTES:
            return Graph(bytes(view[item.start : item.end]))
        if item.number == _EVENT_META_GRAPH and item.kind == BYTES:
            for part in fields(view, item.start, item.end):
                if part.number == _META_GRAPH_GRAPH and part.kind == BYTES:
                    return Graph(bytes(view[part.start : part.end]))
    return None


def _image(view: memoryview, image: Field) -> EncodedImages:
    sizes, files = {1: 0, 2: 0}, []
    for item in fields(view, image.start, image.end):
        if item.number in sizes and item.kind == VARINT:
            sizes[item.number] = min(item.value, 1 << 31)
        elif item.number == 4 and item.kind == BYTES:
            files.append(bytes(view[item.start : item.end]))
    return EncodedImages(sizes[2], sizes[1], tuple(files))


def _histogram(view: memoryview, histogram: Field) -> Histogram:
    ends = {1: 0.0, 2: 0.0}
    columns: dict[int, list[Doubles]] = {6: [], 7: []}
    for item in fields(view, histogram.start, histogram.end):
        if item.kind in (BYTES, FIXED64) and (item.end - item.start) % 8 == 0:
            numbers = np.frombuffer(view[item.start : item.end], "<f8")
            if item.number in columns:
                columns[item.number].append(numbers)
            elif item.number in ends and item.kind == FIXED64:
                ends[item.number] = float(numbers[0])
    limits, counts = (np.concatenate([np.empty(0), *columns[number]]) for number in (6, 7))
    if len(limits) != len(counts):
        raise Malformed(f"a histogram of {len(limits)} limits and {len(counts)} counts")
    filled = np.flatnonzero(counts > 0)
    if not len(filled):
        return Histogram(np.empty((0, 3)))
    # The outermost limits may be the largest numbers there are: what was really seen is told apart from them.
    first, last = int(filled[0]), int(filled[-1])
    inner = limits[first:last]
    return Histogram(np.column_stack([[ends[1], *inner], [*inner, ends[2]], counts[first : last + 1]]))


def _tensor_value(view: memoryview, tensor: Field, kind: str) -> Value | None:
    if kind in ("image", "text", "graph"):
        shape, texts = _strings(view, tensor)
        if kind == "graph" and texts and not texts[0].startswith(b"{"):
            return Graph(texts[0])
        if kind in ("text", "graph"):
            shown = (text[:MAX_TEXT_BYTES].decode("utf-8", "replace") for text in texts[:MAX_TEXTS])
            return Texts(tuple(shown), shape)
        # The first two say how wide and high the others are.
        sizes = [int(text) if text.isdigit() and len(text) < 10 else 0 for text in texts[:2]]
        return EncodedImages(sizes[0], sizes[1], tuple(texts[2:])) if len(sizes) == 2 else None
    numbers = _numbers(view, tensor)
    if numbers is None or numbers.ndim != 2:
        return None
    if kind == "histogram" and numbers.shape[1] == 3:
        return Histogram(numbers)
    if kind == "pr_curve" and numbers.shape[0] >= _PR_ROWS:
        return PrecisionRecall(numbers[4], numbers[5])
    return None


def _strings(view: memoryview, tensor: Field) -> tuple[tuple[int, ...], list[bytes]]:
    dtype, shape, parts = _stored(view, tensor)
    return shape, [bytes(view[one.start : one.end]) for one in parts if one.number == 8] if dtype == _STRING else []


def _stored(view: memoryview, tensor: Field) -> tuple[int, tuple[int, ...], list[Field]]:
    """A tensor's type, its shape, and the fields that may hold its values."""
    dtype, parts = 0, []
    shape: tuple[int, ...] = ()
    for item in fields(view, tensor.start, tensor.end):
        if item.number == 1 and item.kind == VARINT:
            dtype = item.value
        elif item.number == 2 and item.kind == BYTES:
            shape = _shape(view, item)
        elif item.kind == BYTES or (item.number in _NUMBERS and item.kind in (FIXED32, FIXED64)):
            parts.append(item)
    return dtype, shape, parts


def _numbers(view: memoryview, tensor: Field) -> Doubles | None:
    """A tensor of floating-point numbers; None for any other."""
    dtype, shape, stored_in = _stored(view, tensor)
    parts = [view[one.start : one.end] for one in stored_in if one.number in _NUMBERS]
    if dtype not in (1, 2) or math.prod(shape) > MAX_ELEMENTS:
        return None
    kind, width = FIXED_WIDTHS[dtype]
    stored = b"".join(parts)
    count = math.prod(shape)
    if len(stored) % width or len(stored) // width > count or (not stored and count):
        raise Malformed(f"a tensor of {count} numbers in {len(stored)} bytes")
    found: npt.NDArray[Any] = np.frombuffer(stored, kind).astype(np.float64)
    # TensorFlow leaves out repetitions of the last number.
    return np.pad(found, (0, count - len(found)), "edge").reshape(shape) if count else np.empty(shape)


def _shape(view: memoryview, shape: Field) -> tuple[int, ...]:
    found = []
    for dimension in fields(view, shape.start, shape.end):
        if dimension.number == 2 and dimension.kind == BYTES:
            sizes = [one.value for one in fields(view, dimension.start, dimension.end) if one.number == 1]
            found.append(min(sizes[-1], 1 << 40) if sizes else 0)
    return tuple(found[:8])


MAX_PIXELS = 32_000_000
"""Of an image that is decoded."""
LARGEST, SMALLEST = 1_024, 192
"""Pixels of the longer side of what is written: larger images are made smaller, smaller ones get whole multiples of it."""
_FORMATS = ("PNG", "JPEG", "GIF", "BMP", "WEBP")
_DEEP = ("I", "F", "I;16", "I;16B", "I;16L", "I;16N")


class Drawn(NamedTuple):
    """A PNG file, and the size of the image it was made from in pixels."""

    png: bytes
    width: int
    height: int


def drawn(content: bytes) -> Drawn | None:
    """The image in a file of a common format, its first picture where it moves; None where it is damaged or too large."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(content), formats=_FORMATS) as image:
            width, height = image.size
            if not 0 < width * height <= MAX_PIXELS:
                return None
            image.load()
            shown = _scaled(_plain(image))
    except damage.pillow():
        return None
    out = io.BytesIO()
    shown.save(out, "PNG", compress_level=3)
    return Drawn(out.getvalue(), width, height)


def _plain(image: Image.Image) -> Image.Image:
    """In eight bits a channel, grey or coloured, transparent or not."""
    import numpy as np
    from PIL import Image

    if image.mode in _DEEP:
        depth = np.asarray(image, np.float64)
        finite = np.where(np.isfinite(depth), depth, 0.0)
        most = 65_535.0 if image.mode != "F" and finite.max(initial=0) > 255 else 255.0
        return Image.fromarray(np.clip(finite * (255 / most), 0, 255).astype(np.uint8))
    if image.mode in ("L", "LA", "RGB", "RGBA"):
        return image.copy()
    return image.convert("RGBA" if image.mode == "PA" or "transparency" in image.info else "RGB")


def _scaled(image: Image.Image) -> Image.Image:
    from PIL import Image

    longer = max(image.size)
    if longer > LARGEST:
        image.thumbnail((LARGEST, LARGEST), Image.Resampling.LANCZOS)
        return image
    times = -(-SMALLEST // longer)
    return image.resize((image.width * times, image.height * times), Image.Resampling.NEAREST) if times > 1 else image
