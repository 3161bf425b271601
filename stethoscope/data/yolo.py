"""YOLO's text files, one beside each image: boxes, outlines, oriented boxes, poses, in all usual layouts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from stethoscope.data import dataset
from stethoscope.data.dataset import Mark
from stethoscope.data.images.image_dataset import ImageRow, Marked, canvas_for
from stethoscope.data.images.image_opening import Found, ImageReader, NameLookup, Opening, decoded
from stethoscope.data.images.yolo_lines import (
    Settings,
    from_lines,
    from_yaml,
    is_settings_file,
    looks_like_settings,
    parse,
)
from stethoscope.data.members import Members, is_image
from stethoscope.data.survey import split_of, survey
from stethoscope.errors import StethoscopeError
from stethoscope.types import ModelFile

_LABEL_FILE_BYTES = 16 << 20
_LOOKED_INTO = 1_000
"""Label files read when the data is opened, to find classes that no list names."""
_LISTS = re.compile(
    r"(train|val|valid|test|trainval|autosplit_\w+|readme.*|license.*|requirements|notes|.*\.requirements)", re.I
)
_NUMBERS = re.compile(rb"\s*\d+(\.0*)?([ \t,]+-?\d*\.?\d+([eE][-+]?\d+)?){4,}\s*(\n|\r|$)")
_CORNERS = re.compile(rb"(\s*\d+)?([ \t]+|^\s*)(-?\d+\.?\d*[ \t]+){7,8}[^\d\s]\S*[ \t]+[012]\s*(\n|\r|$)")


class YoloReader(ImageReader):
    """Label files with their images or without; class names from data.yaml, classes.txt or *.names."""

    id = "yolo"
    title = "YOLO labels"
    extensions = (".txt",)
    priority = 30

    def sniff(self, file: ModelFile) -> bool:
        """Whether text files hold lines of a class and fractions, or a data.yaml stands beside images and labels."""
        seen = survey(file)
        labels = [(name, head) for name, head in seen.heads_of(".txt") if _is_label_file(name)]
        good = sum(1 for _, head in labels if is_labels(head, alone=not seen.images))
        if good and good * 2 >= sum(1 for _, head in labels if head.strip()):
            return True
        # All label files that were looked into may be empty: images without objects.
        empty = bool(labels) and not any(head.strip() for _, head in labels) and bool(seen.images)
        return empty and looks_like_settings(seen.heads_of(".yaml", ".yml"))

    def found(self, opening: Opening, options: Mapping[str, Any]) -> Found:
        """See `ImageReader.found`."""
        labels = [name for name in opening.members.names if name.lower().endswith(".txt") and _is_label_file(name)]
        if opening.file.path.is_file() and len(opening.members.names) == 1:
            labels = list(opening.members.names)
        settings = _settings(opening)
        rows = _rows(opening.members, labels)
        used, all_read = _used_classes(opening, rows, settings)
        classes = _classes(opening, settings, used, all_read)
        notes = []
        if not any(row.image for row in rows):
            notes.append("The images and their sizes are not in the data: fractions are drawn on a square canvas.")
        if not settings.source:
            notes.append("No data.yaml or list of classes: classes are called by their numbers.")
        source = _YoloMarks(opening.members, settings)
        return Found(rows, source, "none", classes, notes)


def is_labels(head: bytes, *, alone: bool = False) -> bool:
    """Whether the first line that is not empty is one of a label file.

    Args:
        head: the first bytes of a text file.
        alone: no images stand beside it, so that its numbers must be fractions to tell it from any table of numbers.
    """
    body = re.sub(rb"(?m)^(imagesource|gsd)\s*:.*\n", b"", head.lstrip(b"\xef\xbb\xbf")).lstrip()
    line = body.split(b"\n", 1)[0]
    if _CORNERS.match(line):
        return True
    if not _NUMBERS.match(line):
        return False
    return not alone or all(-0.1 <= float(word) <= 1.1 for word in line.replace(b",", b" ").split()[1:])


def _is_label_file(name: str) -> bool:
    return not is_settings_file(name) and not _LISTS.fullmatch(PurePosixPath(name).stem)


def _settings(opening: Opening) -> Settings:
    """The first file that names classes; the one highest up where several do."""
    found = Settings()
    names = sorted(opening.members.names, key=lambda name: (name.count("/"), name))
    for name in names:
        last = PurePosixPath(name).name.lower()
        try:
            if last.endswith((".yaml", ".yml")):
                made = from_yaml(opening.text(name, 1 << 20), name)
                if made is not None:
                    return made
            elif is_settings_file(name) and not found.source:
                found = from_lines(opening.text(name, 4 << 20), name)
        except ValueError as error:
            opening.problems.add("settings", name, f"Class names cannot be read from it: {error}.")
        except StethoscopeError as error:
            opening.problems.add("settings", name, str(error))
    return found


def _rows(members: Members, labels: Sequence[str]) -> list[ImageRow]:
    """One row for each image, with its label file; then one for each label file without an image."""
    images = [name for name in members.names if is_image(name)]
    lookup, taken = NameLookup(labels), set()
    rows = []
    for image in images:
        label = lookup.beside(image)
        if label is not None:
            taken.add(label)
        rows.append(ImageRow(image, image, None, split_of(image) or split_of(label or ""), (), label))
    alone = [label for label in labels if label not in taken]
    rows.extend(ImageRow(label, None, None, split_of(label), (), label) for label in alone)
    return rows


def _used_classes(opening: Opening, rows: Sequence[ImageRow], settings: Settings) -> tuple[dict[str, int | None], bool]:
    """Names (and numbers) of the classes that occur, and whether all label files were read for it."""
    files = [row.key for row in rows if row.key is not None]
    step = max(1, len(files) // _LOOKED_INTO)
    used: dict[str, int | None] = {}
    for name in files[::step]:
        try:
            lines = opening.text(name, _LABEL_FILE_BYTES).splitlines()
        except StethoscopeError as error:
            opening.problems.add("label", name, str(error))
            continue
        for count, line in enumerate(lines, 1):
            try:
                one = parse(line, (1, 1), settings.names, settings.keypoints)
            except ValueError as error:
                opening.problems.add("line", name, f"Line {count}: {error}. It is left out.")
                continue
            if one is None:
                continue
            if one.name not in used and one.number is not None and settings.names and one.number not in settings.names:
                opening.problems.add(
                    "class", name, f"Line {count}: class {one.number} is not among those of {settings.source}."
                )
            used.setdefault(one.name, one.number)
    return used, step == 1


def _classes(opening: Opening, settings: Settings, used: Mapping[str, int | None], all_read: bool) -> tuple[str, ...]:
    numbers = dict(settings.names) | {number: name for name, number in used.items() if number is not None}
    classes = [numbers[number] for number in sorted(numbers)]
    classes.extend(sorted(name for name, number in used.items() if number is None and name not in classes))
    if all_read:
        for name in settings.names.values():
            if name not in used:
                opening.problems.add("empty class", settings.source, f"The class {name!r} marks nothing.")
    return tuple(dict.fromkeys(classes))


class _YoloMarks:
    def __init__(self, members: Members, settings: Settings) -> None:
        self._members, self._settings = members, settings

    def marked(self, row: ImageRow, size: tuple[int, int] | None) -> Marked:
        """See `MarkSource.marked`."""
        if row.key is None:
            return Marked()
        canvas = canvas_for(row, size)
        text = decoded(self._members.read(row.key, _LABEL_FILE_BYTES))
        marks: list[Mark] = []
        problems = []
        for count, line in enumerate(text.splitlines(), 1):
            try:
                one = parse(line, canvas, self._settings.names, self._settings.keypoints)
            except ValueError as error:
                problems.append(f"{row.key}, line {count}: {error}. It is left out.")
                continue
            if one is None:
                continue
            marks.extend(one.marks)
            if one.number is not None and self._settings.names and one.number not in self._settings.names:
                problems.append(
                    f"{row.key}, line {count}: class {one.number} is not among those of {self._settings.source}."
                )
            if len(marks) > dataset.MAX_MARKS:
                break
        return Marked(tuple(marks), problems=tuple(problems))


READER = YoloReader()
