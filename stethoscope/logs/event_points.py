"""What was read of an event file so far: points of every tag, places of media, hyper-parameters; it grows while the file does.

Hyper-parameters as TensorBoard's hparams plugin keeps them in the metadata of a summary.

Source: tensorboard/plugins/hparams/plugin_data.proto (HParamsPluginData, SessionStartInfo), google/protobuf/struct.proto.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from stethoscope.logs.event_layout import SCALAR_PLUGINS, Medium, media_kind
from stethoscope.logs.event_rows import Decoded, Places, Scalars
from stethoscope.logs.series import Media, Series
from stethoscope.models.containers.record_framing import Positions
from stethoscope.models.containers.wire import BYTES, FIXED64, VARINT, Malformed, fields

MAX_TAGS = 20_000
MAX_MEDIA = 1_000_000
_MAX_PIECES = 64

Column = np.ndarray[Any, np.dtype[Any]]
Arrays = tuple[Column, ...]


class Pieces:
    """Columns that grow."""

    def __init__(self, first: Arrays) -> None:
        self._columns = [[column] for column in first]

    def append(self, piece: Arrays) -> None:
        """Adds arrays of equal length."""
        for column, more in zip(self._columns, piece, strict=True):
            column.append(more)
        if len(self._columns[0]) >= _MAX_PIECES:
            self.whole()

    def whole(self) -> Arrays:
        """The columns in the order added; joined one after the other, so that only one is there twice."""
        for column in self._columns:
            if len(column) > 1:
                column[:] = [np.concatenate(column)]
        return tuple(column[0] for column in self._columns)


class EventPoints:
    """Contents of one event file."""

    def __init__(self) -> None:
        self.count = 0
        self.media_count = 0
        self.plugins: dict[str, str] = {}
        self.parameters: dict[str, Any] = {}
        self.refused: set[str] = set()
        """Why something was left out."""
        self._scalars: dict[str, Pieces] = {}
        self._media: dict[Medium, int] = {}
        self._places: Pieces | None = None
        """Which medium, and where: of all media together, as most files have few of each."""

    @property
    def tags(self) -> tuple[str, ...]:
        """Tags of scalars, in the order met."""
        return tuple(self._scalars)

    def series(self) -> Mapping[str, Series]:
        """Every scalar, in the order written."""
        return {tag: Series(tag, *pieces.whole()) for tag, pieces in self._scalars.items()}

    def media(self, file: int) -> list[Media]:
        """Everything else; `file` is the place of this file among those of its run."""
        known, found = list(self._media), []
        for at, (step, wall, start, size) in _split(*self._places.whole()) if self._places else ():
            found.append(Media(*known[at], step, wall, np.full(len(step), file, np.int32), start, size))
        return found

    def add(self, decoded: Decoded, starts: Positions, sizes: Positions) -> None:
        """Takes what records hold whose contents are at `starts` in the file."""
        for tag, plugin in decoded.plugins:
            if len(self.plugins) < MAX_TAGS:
                self.plugins.setdefault(tag, plugin)
        for content in decoded.sessions:
            self.parameters.update(session_parameters(content))
        if decoded.left_out:
            self.refused.add("values with tags of more than 2,000 bytes were left out")
        self._add_media([*decoded.places, *self._add_scalars(decoded.scalars)], starts, sizes)

    def _add_scalars(self, pieces: list[Scalars]) -> list[Places]:
        """Returns those of a tag whose plugin said elsewhere that they are no scalars."""
        kept: list[tuple[Any, ...]] = []
        foreign: list[Places] = []
        for piece in pieces:
            tags, which, *columns = [tag for tag, _ in piece.tags], *piece[1:]
            other = [unknown and self.plugins.get(tag, "") not in SCALAR_PLUGINS for tag, unknown in piece.tags]
            if any(other):
                media = [Medium(tag, media_kind(self.plugins.get(tag, ""))) for tag in tags]
                apart = np.array(other)[which]
                where = which[apart], piece.record[apart], piece.step[apart], piece.wall_time[apart]
                foreign.append(Places(media, *where))
                which, columns = which[~apart], [one[~apart] for one in columns]
            kept.append((tags, which, *columns))
        for tag, found in _by_name(kept):
            self._grow(tag, found)
        return foreign

    def _grow(self, tag: str, columns: Arrays) -> None:
        if tag not in self._scalars:
            if len(self._scalars) >= MAX_TAGS:
                self.refused.add(f"only the first {MAX_TAGS:,} tags were read")
                return
            self._scalars[tag] = Pieces(columns)
        else:
            self._scalars[tag].append(columns)
        self.count += len(columns[0])

    def _add_media(self, pieces: list[Places], starts: Positions, sizes: Positions) -> None:
        columns: list[Arrays] = []
        for piece in pieces:
            room = len(self._media) < MAX_TAGS and self.media_count < MAX_MEDIA
            if not room and (self.media_count >= MAX_MEDIA or any(one not in self._media for one in piece.media)):
                self.refused.add(f"only {MAX_MEDIA:,} media of {MAX_TAGS:,} tags were read")
                continue
            ids = np.array([self._media.setdefault(one, len(self._media)) for one in piece.media])[piece.medium]
            columns.append((piece.record, ids, piece.step, piece.wall_time, starts[piece.record], sizes[piece.record]))
            self.media_count += len(ids)
        if not columns:
            return
        _, *found = _in_order(columns)
        if self._places is None:
            self._places = Pieces(tuple(found))
        else:
            self._places.append(tuple(found))


def _by_name(pieces: list[tuple[Any, ...]]) -> Iterator[tuple[str, Arrays]]:
    """From pieces (names, which of them, record, …), each ascending, to the other columns of a name in the order of records.

    A name may come several times, each time with later records.
    """
    parts: dict[str, list[Arrays]] = {}
    numbers: dict[str, int] = {}
    mixed: list[Arrays] = []
    for names, which, *columns in pieces:
        if len(names) == 1 and len(which):
            parts.setdefault(names[0], []).append(tuple(columns))
        elif len(which):
            ids = np.array([numbers.setdefault(name, len(numbers)) for name in names])[which]
            mixed.append((columns[0], ids, *columns))
    named = list(numbers)
    for at, found in _split(*_in_order(mixed)[1:]) if mixed else ():
        parts.setdefault(named[at], []).append(found)
    for name, known in parts.items():
        known.sort(key=lambda one: int(one[0][0]))
        apart = all(later[0][0] > earlier[0][-1] for earlier, later in pairwise(known))
        for one in known if apart else [_in_order(known)]:
            yield name, one[1:]


def _in_order(pieces: list[Arrays]) -> Arrays:
    """The pieces' columns joined, by the record, which is the first of them."""
    columns = pieces[0] if len(pieces) == 1 else tuple(map(np.concatenate, zip(*pieces, strict=True)))
    record = columns[0]
    if len(record) < 2 or bool((record[1:] >= record[:-1]).all()):
        return columns
    order = np.argsort(record, kind="stable")
    return tuple(column[order] for column in columns)


def _split(ids: Column, *columns: Column) -> Iterator[tuple[int, Arrays]]:
    """The columns of each id, in the same order."""
    if not len(ids):
        return
    if bool((ids == ids[0]).all()):
        yield int(ids[0]), columns
        return
    short = ids.astype(np.uint16) if ids.max() < 1 << 16 else ids
    order = np.argsort(short, kind="stable")
    columns = tuple(column[order] for column in columns)
    edges = [0, *(np.flatnonzero(np.diff(ids[order])) + 1).tolist(), len(ids)]
    for begin, end in pairwise(edges):
        # A copy, so that one tag does not keep the columns of all.
        yield int(ids[order[begin]]), tuple(column[begin:end].copy() for column in columns)


_MAX_PARAMETERS = 1_000
_MAX_TEXT_BYTES = 2_000


def session_parameters(content: bytes) -> dict[str, Any]:
    """Numbers, texts and truth values by name; empty where the content is something else of the plugin."""
    view = memoryview(content)
    found: dict[str, Any] = {}
    try:
        for item in fields(view):
            if item.number == 3 and item.kind == BYTES:
                for entry in fields(view, item.start, item.end):
                    if entry.number == 1 and entry.kind == BYTES and len(found) < _MAX_PARAMETERS:
                        name, value = _entry(view, entry.start, entry.end)
                        if name and value is not None:
                            found[name] = value
    except Malformed:
        return {}
    return found


def _entry(view: memoryview, start: int, end: int) -> tuple[str, Any]:
    name, value = "", None
    for item in fields(view, start, end):
        if item.number == 1 and item.kind == BYTES:
            name = _text(view, item.start, item.end)
        elif item.number == 2 and item.kind == BYTES:
            for inner in fields(view, item.start, item.end):
                if inner.number == 2 and inner.kind == FIXED64:
                    (value,) = struct.unpack_from("<d", view, inner.start)
                elif inner.number == 3 and inner.kind == BYTES:
                    value = _text(view, inner.start, inner.end)
                elif inner.number == 4 and inner.kind == VARINT:
                    value = bool(inner.value)
    return name, value


def _text(view: memoryview, start: int, end: int) -> str:
    return bytes(view[start : min(end, start + _MAX_TEXT_BYTES)]).decode("utf-8", "replace")
