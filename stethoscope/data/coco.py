"""COCO's JSON: instances, key points, captions; several files are splits, or say more about the same images."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from stethoscope.data import dataset
from stethoscope.data.dataset import DataField
from stethoscope.data.images.image_dataset import ImageRow, Marked
from stethoscope.data.images.image_opening import Found, ImageReader, NameLookup, Opening, decoded
from stethoscope.data.images.listed_marks import marks_of
from stethoscope.data.images.mark_checks import MarkList
from stethoscope.data.survey import split_in_stem, split_of, survey
from stethoscope.data.tables.python_columns import JsonRecords
from stethoscope.errors import TooLarge, UnreadableFile
from stethoscope.types import ModelFile

if TYPE_CHECKING:
    import numpy.typing as npt

_LISTS = re.compile(rb'"(images|annotations|categories)"\s*:\s*\[')
_WORDS = re.compile(rb'"(file_name|image_id|supercategory|iscrowd|category_id|coco_url)"\s*:')
_COPIES = 4
"""Memory that a JSON text takes while it is read, in multiples of the file."""


class CocoReader(ImageReader):
    """Boxes, polygons, run-length masks, crowds, key points and captions."""

    id = "coco"
    title = "COCO annotations"
    extensions = (".json",)
    priority = 10

    def sniff(self, file: ModelFile) -> bool:
        """Whether a JSON file has COCO's lists and words near its beginning."""
        return any(is_coco(head) for _, head in survey(file).heads_of(".json"))

    def found(self, opening: Opening, options: Mapping[str, Any]) -> Found:
        """See `ImageReader.found`."""
        seen = opening.seen
        gathering = _Gathering(opening, NameLookup(seen.images))
        for name in sorted(name for name, head in seen.heads_of(".json") if is_coco(head)):
            with opening.noting("json", name, unless=TooLarge):
                gathering.add(name)
        return gathering.found(len(seen.images))


def is_coco(head: bytes) -> bool:
    """Whether a JSON text begins like COCO's."""
    return _LISTS.search(head) is not None and _WORDS.search(head) is not None


@dataclass
class _Document:
    """One JSON file: its records by position, so that an image's annotations are read again when it is shown."""

    name: str
    records: JsonRecords
    categories: dict[Any, str] = field(default_factory=dict)
    images: dict[Any, int] = field(default_factory=dict)
    """Row of each image id."""
    owners: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """Row of each annotation, ascending."""
    starts: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))


class _Gathering:
    """Rows, classes and annotations of all files together."""

    def __init__(self, opening: Opening, lookup: NameLookup) -> None:
        self._opening, self._lookup = opening, lookup
        self._documents: list[_Document] = []
        self._rows: dict[str, ImageRow] = {}
        self._places: dict[str, int] = {}
        self._categories: dict[str, Any] = {}
        self._used: Counter[str] = Counter()
        self._held_bytes = 0
        self._captions = False

    def add(self, name: str) -> None:
        payload = self._opening.members.read(name, dataset.MAX_ANNOTATION_BYTES)
        self._held_bytes += len(payload) * _COPIES
        if self._held_bytes > self._opening.budget_bytes:
            raise TooLarge(
                f"{self._opening.file.name}: {name!r} and the annotations before it take about {self._held_bytes:,} bytes of "
                f"memory, the limit is {self._opening.budget_bytes:,}. Give one split at a time."
            )
        document = _Document(name, JsonRecords(decoded(payload)))
        del payload
        images: list[Any] = []
        ids: list[Any] = []
        starts = array("q")
        used: Counter[Any] = Counter()
        for record in document.records:
            if not isinstance(record.value, Mapping):
                continue
            if record.key == "images":
                images.append(record.value)
            elif record.key == "categories":
                document.categories[_key(record.value.get("id"))] = str(
                    record.value.get("name", record.value.get("id"))
                )
            elif record.key == "annotations":
                ids.append(_key(record.value.get("image_id")))
                starts.append(record.start)
                self._captions |= "caption" in record.value
                used[_key(record.value.get("category_id"))] += 1
        if document.records.damage:
            self._opening.problems.add("json", name, document.records.damage)
        for number, count in used.items():
            self._used[document.categories.get(number, "")] += count
        if not images:
            # Cut off, or without the list: COCO names its images by their number.
            images = [
                {"id": one, "file_name": f"{one:012d}.jpg" if isinstance(one, int) else str(one)}
                for one in dict.fromkeys(ids)
            ]
        for entry in images:
            self._image(document, entry)
        self._place(document, ids, starts)
        for number, category in sorted(document.categories.items(), key=lambda item: (str(type(item[0])), item[0])):
            self._categories.setdefault(category, number)
        self._documents.append(document)

    def _image(self, document: _Document, entry: Mapping[str, Any]) -> None:
        file_name = str(entry.get("file_name") or entry.get("coco_url") or f"image {entry.get('id')}")
        member = self._lookup.named(file_name, document.name)
        split = split_in_stem(document.name) or (split_of(member) if member else "")
        known = member or f"{split}:{file_name}"
        if known not in self._places:
            self._places[known] = len(self._rows)
            self._rows[known] = ImageRow(member or file_name, member, _size(entry), split, (), self._places[known])
        document.images[_key(entry.get("id"))] = self._places[known]

    def _place(self, document: _Document, ids: list[Any], starts: array[int]) -> None:
        strangers = sum(1 for one in ids if one not in document.images)
        if strangers:
            self._opening.problems.add(
                "strangers",
                document.name,
                f"{strangers:,} of {len(ids):,} annotations name an image that is not listed.",
            )
        owners = np.fromiter((document.images.get(one, -1) for one in ids), np.int64, len(ids))
        order = np.argsort(owners, kind="stable")
        document.owners, document.starts = owners[order], np.asarray(starts, np.int64)[order]

    def found(self, images: int) -> Found:
        if not self._documents:
            raise UnreadableFile(
                f"{self._opening.file.name}: none of its COCO files can be read. {self._first_problem()}"
            )
        unlisted = images - sum(1 for row in self._rows.values() if row.image)
        notes = (
            [f"{unlisted:,} images are in the data but in no annotation file; they are left out."]
            if unlisted > 0
            else []
        )
        for name in self._categories:
            if not self._used[name] and not self._captions:
                self._opening.problems.add("empty class", name, f"The class {name!r} has no annotation.")
        more = (DataField("caption", "text", "string", (), "other"),) if self._captions else ()
        rows = list(self._rows.values())
        return Found(
            rows, _CocoMarks(self._documents, self._opening.budget_bytes), "none", tuple(self._categories), notes, more
        )

    def _first_problem(self) -> str:
        return self._opening.problems.kept[0].sentence if self._opening.problems.kept else "Export them again."


class _CocoMarks:
    def __init__(self, documents: list[_Document], budget_bytes: int) -> None:
        self._documents, self._budget_bytes = documents, budget_bytes

    def marked(self, row: ImageRow, size: tuple[int, int] | None) -> Marked:
        """See `MarkSource.marked`."""
        marks = MarkList(self._budget_bytes)
        problems: list[str] = []
        captions: list[str] = []
        for document in self._documents:
            first, last = np.searchsorted(document.owners, [row.key, row.key + 1])
            for start in document.starts[first:last][: dataset.MAX_MARKS + 1]:
                annotation = document.records.again(int(start))
                number = _key(annotation.get("category_id"))
                label = document.categories.get(number, "")
                if not label and number is not None:
                    label = f"category {number}"
                    problems.append(f"{document.name}: expected a listed category, got {number!r}.")
                if isinstance(annotation.get("caption"), str):
                    captions.append(annotation["caption"].strip()[: dataset.MAX_TEXT])
                try:
                    if not marks.extend(marks_of(annotation, label, size or row.size)):
                        break
                except ValueError as error:
                    named = annotation.get("id")
                    problems.append(f"{document.name}: annotation {named!r}: {error}. That part is left out.")
        values = {"caption": np.asarray("\n".join(captions))} if captions else {}
        return Marked(marks.marks, (), None, marks.said(problems), values=values)


def _size(entry: Mapping[str, Any]) -> tuple[int, int] | None:
    width, height = entry.get("width"), entry.get("height")
    if isinstance(width, int | float) and isinstance(height, int | float) and 0 < width < 1e6 and 0 < height < 1e6:
        return int(width), int(height)
    return None


def _key(value: Any) -> Any:
    return value if isinstance(value, int | str | float) or value is None else str(value)


READER = CocoReader()
