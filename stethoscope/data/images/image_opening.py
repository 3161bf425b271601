"""What every reader of images does when it opens data: images found, members, rows, problems and fields put together."""

from __future__ import annotations

import functools
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from stethoscope.data import dataset
from stethoscope.data.dataset import DataAbout, DataField, Dataset, Role
from stethoscope.data.images.image_dataset import ImageDataset, ImageRow, MarkSource, Target
from stethoscope.data.images.image_decoding import OTHER_SUFFIXES, layout_of
from stethoscope.data.members import Members, is_image, open_members
from stethoscope.data.survey import ProblemList, Survey, survey
from stethoscope.errors import StethoscopeError, UnreadableFile
from stethoscope.types import ModelFile, Shape

_ANNOTATED = (
    "coco",
    "via",
    "createml",
    "labelme_json",
    "labelme_xml",
    "cvat",
    "open_images",
    "voc",
    "kitti",
    "yolo",
    "box_table",
    "class_table",
)
_ONE_TABLE = ({"box_table", "class_table"},)
"""Kinds that see the same file: a table of boxes names classes too."""
_LOOKED_INTO = 24
"""Images whose size and channels are read when the data is opened, spread evenly."""


@dataclass
class Found:
    """What a reader found; `opened` makes a data set of it."""

    rows: Sequence[ImageRow]
    source: MarkSource
    target: Target = "none"
    classes: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)
    more_fields: tuple[DataField, ...] = ()


class Opening:
    """Members held open, and the problems met while a reader looks through them."""

    def __init__(self, file: ModelFile, reader_id: str, title: str, budget_bytes: int) -> None:
        self.file, self.budget_bytes = file, budget_bytes
        self.problems = ProblemList()
        self._id, self._title = reader_id, title
        self._stack = ExitStack()
        self.members: Members = self._stack.enter_context(open_members(file))

    @functools.cached_property
    def seen(self) -> Survey:
        """What is in the data, by name and first bytes."""
        return survey(self.file)

    def __enter__(self) -> Opening:
        return self

    def __exit__(self, *exc: object) -> None:
        self._stack.close()

    def text(self, name: str, limit_bytes: int = dataset.MAX_MEMBER_BYTES) -> str:
        """One member as text: UTF-8 with or without a mark, else Latin-1."""
        return decoded(self.members.read(name, limit_bytes))

    @contextmanager
    def noting(self, kind: str, name: str, unless: type[StethoscopeError] | None = None) -> Iterator[None]:
        """What cannot be read inside becomes a problem of its kind, and what comes after goes on; errors `unless` end it."""
        try:
            yield
        except StethoscopeError as error:
            if unless is not None and isinstance(error, unless):
                raise
            self.problems.add(kind, name, str(error))

    def finish(self, found: Found) -> ImageDataset:
        """The data set; from here on it is the one that closes the members.

        Raises:
            UnreadableFile: there is nothing to show.
        """
        rows = found.rows
        if not rows:
            raise UnreadableFile(
                f"{self.file.name}: expected images with annotations ({self._title}), got none. Check what was packed."
            )
        if len(found.classes) > dataset.MAX_CLASSES:
            found.notes.append(f"Only the first {dataset.MAX_CLASSES:,} of {len(found.classes):,} classes are named.")
        self._about_missing(rows)
        shape, dtype = self._layout(rows)
        splits = tuple(dict.fromkeys(row.split for row in rows if row.split))
        fields = [DataField("image", "image", dtype, shape)]
        if found.target == "mask":
            fields.append(DataField("mask", "mask", "int64", None if shape is None else shape[:2], "target"))
        if found.classes or any(row.labels for row in rows):
            role: Role = "target" if found.target in ("class", "several") else "other"
            fields.append(DataField("label", "category", "string", (), role))
        fields.extend(found.more_fields)
        if splits:
            fields.append(DataField("split", "category", "string", (), "split"))
        about = DataAbout(
            reader_id=self._id,
            title=self._title,
            rows=len(rows),
            rows_exact=True,
            fields=tuple(fields),
            classes=found.classes[: dataset.MAX_CLASSES],
            splits=splits,
            problems=self.problems.kept,
            problem_count=self.problems.count,
            any_order=self.members.in_any_order,
            notes=(*found.notes, *self._other_kinds(), *also_annotated(self.file, self._id), *self._slow()),
        )
        closing = self._stack.pop_all()
        return ImageDataset(about, self.members, rows, found.source, found.target, self.budget_bytes, closing)

    def _about_missing(self, rows: Sequence[ImageRow]) -> None:
        missing = [row.name for row in rows if row.image is None]
        if missing and len(missing) == len(rows):
            self.problems.add(
                "missing", "", f"None of the {len(rows):,} images is in the data; marks are drawn on an empty canvas."
            )
        else:
            for name in missing:
                self.problems.add(
                    "missing", name, "The image is not in the data; its marks are drawn on an empty canvas."
                )

    def _layout(self, rows: Sequence[ImageRow]) -> tuple[Shape | None, str]:
        present = [row.image for row in rows if row.image is not None]
        shapes: set[tuple[int, int, int]] = set()
        kinds: Counter[str] = Counter()
        step = max(1, len(present) // _LOOKED_INTO) if self.members.in_any_order else 1
        for name in present[::step][: _LOOKED_INTO + 1]:
            with self.noting("image", name), self.members.open(name) as stream:
                shape, dtype = layout_of(stream, name)
                shapes.add(shape)
                kinds[dtype] += 1
        if not shapes:
            return None, ""
        sizes = [{shape[axis] for shape in shapes} for axis in range(3)]
        common = tuple(next(iter(size)) if len(size) == 1 else None for size in sizes)
        return common, next(iter(kinds)) if len(kinds) == 1 else ""

    def _slow(self) -> list[str]:
        if self.members.in_any_order:
            return []
        return ["A compressed tar is inflated from its start for each look; packed as a zip it is shown faster."]

    def _other_kinds(self) -> list[str]:
        others = [name for name in self.members.names if name.lower().endswith(OTHER_SUFFIXES)]
        if not others:
            return []
        suffixes = ", ".join(sorted({f".{name.rsplit('.', 1)[-1].lower()}" for name in others}))
        return [f"{len(others):,} files of kinds that are not decoded here ({suffixes}) are left out."]


class ImageReader(ABC):
    """What a `DataReader` of images has in common with the others: it says what it found."""

    id: str
    title: str

    def open(self, file: ModelFile, budget_bytes: int, options: Mapping[str, Any]) -> Dataset:
        """See `DataReader.open`."""
        with Opening(file, self.id, self.title, budget_bytes) as opening:
            return opening.finish(self.found(opening, options))

    @abstractmethod
    def found(self, opening: Opening, options: Mapping[str, Any]) -> Found:
        """Images and what is marked on them.

        Args:
            opening: the data.
            options: what the user said about it, see `DataReader.open`.
        """


def also_annotated(file: ModelFile, reader_id: str) -> list[str]:
    """A note about annotations of other kinds in the same data: only one kind is shown at a time."""
    from stethoscope.data import all_readers

    if reader_id not in _ANNOTATED or reader_id == "open_images":
        return []  # Open Images' own tables look like tables of boxes and classes.
    others = [
        reader.title
        for reader in all_readers().values()
        if reader.id in _ANNOTATED
        and reader.id != reader_id
        and {reader.id, reader_id} not in _ONE_TABLE
        and reader.sniff(file)
    ]
    return (
        [f"Also holds other annotations ({', '.join(others)}): give their folder alone to see them."] if others else []
    )


def decoded(payload: bytes) -> str:
    """Bytes as text: UTF-16 with its mark, UTF-8, else Latin-1 (which fits anything)."""
    if payload.startswith((b"\xff\xfe", b"\xfe\xff")):
        return payload.decode("utf-16", "replace")
    try:
        return payload.decode("utf-8-sig")
    except UnicodeDecodeError:
        return payload.decode("latin-1")


_NEUTRAL = frozenset(
    [
        "images",
        "image",
        "imgs",
        "img",
        "pictures",
        "photos",
        "jpegimages",
        "jpeg",
        "jpg",
        "png",
        "labels",
        "label",
        "labeltxt",
        "labels_obb",
        "annotations",
        "annotation",
        "annots",
        "ann",
        "xml",
        "xmls",
        "json",
        "jsons",
        "txt",
        "txts",
        "masks",
        "mask",
        "image_2",
        "image_3",
        "label_2",
        "segmentationclass",
        "segmentationobject",
        "data",
    ]
)
"""Folders that say what kind of file is in them, not which part of the data."""
_MOST_CANDIDATES = 64
_WORDS = re.compile(r"[a-z]+\d*|\d+")


class NameLookup:
    """Files by their stem: the nearest one to a name, where folders and suffixes may differ."""

    def __init__(self, names: Iterable[str]) -> None:
        self._exact: set[str] = set()
        self._keys: dict[tuple[str, ...], str] = {}
        self._stems: dict[str, list[str]] = {}
        for name in names:
            self._exact.add(name)
            self._keys.setdefault(_key(name), name)
            self._stems.setdefault(_stem(name), []).append(name)

    def __len__(self) -> int:
        return len(self._exact)

    def beside(self, name: str) -> str | None:
        """The file that goes with `name` (same stem; "labels/train/a.txt" ↔ "images/train/a.jpg"), or None."""
        found = self._keys.get(_key(name))
        return found or self._nearest(self._stems.get(_stem(name), ()), name, "")

    def named(self, reference: str, near: str) -> str | None:
        """The file that an annotation calls `reference`.

        Args:
            reference: a name or path as annotators write it: absolute, with backslashes, without a suffix …
            near: the annotation file it stands in, which settles which of several is meant.
        """
        plain = reference.replace("\\", "/").strip().removeprefix("./")
        folder = near.rpartition("/")[0]
        for candidate in (f"{folder}/{plain}" if folder else plain, plain):
            if candidate in self._exact:
                return candidate
        last = plain.rpartition("/")[2].lower()
        stem = _stem(plain) if is_image(plain) else last
        candidates = self._stems.get(stem) or self._stems.get(_stem(plain), [])
        same = [name for name in candidates if name.lower().endswith(last)]
        return self._nearest(same or candidates, near, plain)

    def _nearest(self, candidates: Iterable[str], near: str, reference: str) -> str | None:
        few = list(candidates)[:_MOST_CANDIDATES]
        if len(few) < 2:
            return few[0] if few else None
        return max(few, key=lambda name: (_same_tail(name, reference), _shared(name, near), -len(name)))


def _stem(name: str) -> str:
    last = name.rsplit("/", 1)[-1].lower()
    stem, dot, _ = last.rpartition(".")
    return stem if dot and stem else last


def _key(name: str) -> tuple[str, ...]:
    folders = [part for part in name.lower().split("/")[:-1] if part not in _NEUTRAL]
    return (*folders, _stem(name))


def _same_tail(name: str, reference: str) -> int:
    count = 0
    for one, other in zip(reversed(name.lower().split("/")), reversed(reference.lower().split("/")), strict=False):
        if one != other:
            break
        count += 1
    return count


def _shared(name: str, near: str) -> int:
    mine, other = set(_WORDS.findall(name.lower().rpartition("/")[0])), set(_WORDS.findall(near.lower()))
    return len(mine & other)
