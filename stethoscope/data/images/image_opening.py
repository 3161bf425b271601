"""What every reader of images does when it opens data: members, rows, problems and fields put together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from stethoscope.data import dataset
from stethoscope.data.dataset import DataAbout, DataField, Role
from stethoscope.data.images.image_dataset import ImageDataset, ImageRow, MarkSource, Target
from stethoscope.data.images.image_decoding import OTHER_SUFFIXES, layout_of
from stethoscope.data.members import Members, open_members
from stethoscope.data.survey import ProblemList
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

    def __enter__(self) -> Opening:
        return self

    def __exit__(self, *exc: object) -> None:
        self._stack.close()

    def text(self, name: str, limit_bytes: int = dataset.MAX_MEMBER_BYTES) -> str:
        """One member as text: UTF-8 with or without a mark, else Latin-1."""
        return decoded(self.members.read(name, limit_bytes))

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
            try:
                with self.members.open(name) as stream:
                    shape, dtype = layout_of(stream, name)
            except StethoscopeError as error:
                self.problems.add("image", name, str(error))
                continue
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
