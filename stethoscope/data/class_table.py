"""Classes of images in a CSV file: a column of labels, or a column of 0 and 1 for each class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stethoscope.data import dataset
from stethoscope.data.images.bounded_text import FILE_COLUMNS, column, csv_rows, head_rows
from stethoscope.data.images.image_dataset import Target
from stethoscope.data.images.image_opening import Found, ImageReader, NameLookup, Opening
from stethoscope.data.images.listed_marks import ListedMarks, Listing
from stethoscope.data.members import is_image
from stethoscope.data.survey import Survey, is_split, split_in_stem, survey
from stethoscope.types import ModelFile

_FILES = (*FILE_COLUMNS, "id", "filepath", "filepaths")
_LABELS = (
    "label",
    "labels",
    "class",
    "classname",
    "category",
    "target",
    "diagnosis",
    "species",
    "breed",
    "dx",
    "y",
    "level",
)
_SPLITS = ("split", "dataset", "subset", "set", "partition")
_MOST_CLASSES = 1_000


@dataclass(frozen=True)
class Layout:
    """Which column is what."""

    file: int
    label: int | None
    marked: tuple[int, ...]
    """Columns of 0 and 1, one a class."""
    split: int | None


class ClassTableReader(ImageReader):
    """A table of file names and classes beside the images."""

    id = "class_table"
    title = "Images with classes in a CSV table"
    extensions = ()
    priority = 40

    def sniff(self, file: ModelFile) -> bool:
        """Whether a CSV names images that are there, and their classes."""
        seen = survey(file)
        return bool(seen.images) and bool(_tables(seen))

    def found(self, opening: Opening, options: Mapping[str, Any]) -> Found:
        """See `ImageReader.found`; options["target"] names the column of labels."""
        listing = Listing(opening)
        classes: dict[str, None] = {}
        several = False
        for name, header in _tables(opening.seen):
            layout = _layout(header, str(options.get("target") or ""))
            if layout is not None:
                with opening.noting("csv", name):
                    several |= _read(opening, name, header, layout, listing, classes)
        used = set(listing.classes)
        for label in classes:
            if label not in used:
                opening.problems.add("empty class", label, f"The class {label!r} has no image.")
        ordered = tuple(classes) if any(label not in used for label in classes) or several else listing.classes
        target: Target = "several" if several else "class"
        return Found(listing.rows(), ListedMarks(), target, ordered, listing.left_out())


def _tables(seen: Survey) -> list[tuple[str, list[list[str]]]]:
    """(name, first rows) of the CSV files most of whose lines name an image that is there."""
    lookup = NameLookup(seen.images)
    found = []
    for name, head in seen.heads_of(".csv", ".tsv"):
        rows = head_rows(head)
        layout = _layout(rows, "") if len(rows) > 1 else None
        if layout is None:
            continue
        named = [row[layout.file] for row in rows[1:] if layout.file < len(row) and row[layout.file]]
        if named and sum(1 for one in named if lookup.named(one, name)) * 2 >= len(named):
            found.append((name, rows))
    return found


def _layout(rows: Sequence[Sequence[str]], target: str) -> Layout | None:
    header = rows[0]
    file = column(header, _FILES)
    if file is None:
        file = next(
            (
                place
                for place in range(len(header))
                if len(rows) > 1 and place < len(rows[1]) and is_image(rows[1][place])
            ),
            None,
        )
    if file is None:
        return None
    others = [place for place in range(len(header)) if place != file and header[place]]
    label = list(header).index(target) if target in header else column(header, _LABELS)
    split = column(header, _SPLITS)
    if label is not None and label != file:
        return Layout(file, label, (), split)
    marked = [
        place
        for place in others
        if all(place < len(row) and row[place] in ("0", "1", "0.0", "1.0", "-1", "-1.0") for row in rows[1:])
    ]
    if marked and len(rows) > 1 and len(marked) <= _MOST_CLASSES:
        return Layout(file, None, tuple(marked), split)
    words = [place for place in others if place != split]
    return Layout(file, words[0], (), split) if len(words) == 1 else None


def _read(
    opening: Opening,
    name: str,
    rows: Sequence[Sequence[str]],
    layout: Layout,
    listing: Listing,
    classes: dict[str, None],
) -> bool:
    """Adds every line's image; returns whether an image has several classes, or none of several."""
    several = False
    header = rows[0]
    classes |= {header[place]: None for place in layout.marked}
    for line, values in csv_rows(opening.text(name, dataset.MAX_ANNOTATION_BYTES)):
        if line == 1:
            continue
        reference = values[layout.file] if layout.file < len(values) else ""
        if not reference:
            opening.problems.add("line", name, f"Line {line} names no image. It is left out.")
            continue
        entry = listing.entry(reference, name, _split(values, layout) or split_in_stem(name))
        if layout.label is not None:
            label = values[layout.label] if layout.label < len(values) else ""
            if not label:
                opening.problems.add("unlabelled", name, f"Line {line}: the image {reference!r} has no label.")
            elif label not in entry.labels:
                entry.labels.append(label)
                classes.setdefault(label)
        else:
            found = [header[place] for place in layout.marked if place < len(values) and values[place] in ("1", "1.0")]
            entry.labels.extend(label for label in found if label not in entry.labels)
            several |= len(found) != 1
        several |= len(entry.labels) > 1
    return several


def _split(values: Sequence[str], layout: Layout) -> str:
    written = values[layout.split] if layout.split is not None and layout.split < len(values) else ""
    return written if is_split(written) else ""


READER = ClassTableReader()
