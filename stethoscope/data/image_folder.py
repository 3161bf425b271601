"""Plain images: one, a folder of them, or folders whose names are the classes; train/val/test folders are splits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from pathlib import PurePosixPath
from typing import Any

from stethoscope.data.images.image_dataset import ImageRow, NoMarks
from stethoscope.data.images.image_opening import Found, ImageReader, Opening
from stethoscope.data.members import is_image
from stethoscope.data.survey import ProblemList, is_split, survey
from stethoscope.types import ModelFile

_GENERIC = frozenset(["images", "image", "imgs", "img", "pictures", "photos", "jpegs", "jpg", "png", "data", "dataset"])
_MAGICS = (
    b"\xff\xd8\xff",
    b"\x89PNG\r\n\x1a\n",
    b"GIF87a",
    b"GIF89a",
    b"BM",
    b"II*\x00",
    b"MM\x00*",
    b"\x00\x00\x00\x0cjP  ",
    b"P1",
    b"P2",
    b"P3",
    b"P4",
    b"P5",
    b"P6",
)


class ImageFolderReader(ImageReader):
    """Images by folder, as keras.utils.image_dataset_from_directory reads them: the folder below the split is the class."""

    id = "images"
    title = "Images in folders"
    extensions = (
        ".jpg",
        ".jpeg",
        ".png",
        ".bmp",
        ".gif",
        ".webp",
        ".tif",
        ".tiff",
        ".ppm",
        ".pgm",
        ".jp2",
        ".avif",
        ".tga",
    )
    priority = 90

    def sniff(self, file: ModelFile) -> bool:
        """A single image by its first bytes; a folder or archive when most of its files are images."""
        if file.path.is_file():
            with file.path.open("rb") as stream:
                head = stream.read(16)
            if head.startswith(_MAGICS[:8]) or (head.startswith(_MAGICS[8:]) and head[2:3].isspace()):
                return True
            if (head[:4] == b"RIFF" and head[8:12] == b"WEBP") or head[4:12] == b"ftypavif":
                return True
        seen = survey(file)
        if len(seen.names) == 1 and file.path.is_file() and seen.names[0] == file.name:
            return False
        return bool(seen.images) and len(seen.images) * 2 >= len(seen.names)

    def found(self, opening: Opening, options: Mapping[str, Any]) -> Found:
        """See `ImageReader.found`."""
        names = opening.members.names
        images = (
            list(names)
            if len(names) == 1 and opening.file.path.is_file()
            else [name for name in names if is_image(name)]
        )
        rows = rows_by_folder(images, opening.problems)
        classes = tuple(sorted({label for row in rows for label in row.labels}))
        _about_empty(rows, classes, opening.members.folders, opening.problems)
        notes = [] if classes or len(rows) == 1 else ["No class folders: the images have no labels."]
        return Found(rows, NoMarks(), "class" if classes else "none", classes, notes)


def rows_by_folder(images: Sequence[str], problems: ProblemList) -> list[ImageRow]:
    """One row for each image, its split and class taken from its folders."""
    named_so = _classes_named_like_splits(images)
    folders = {name: _places(tuple(name.split("/")[:-1]), named_so) for name in images}
    common = _common([parts for _, parts in folders.values()])
    classes = {name: (split, parts[common:]) for name, (split, parts) in folders.items()}
    labelled = any(parts for _, parts in classes.values())
    rows = []
    for name in images:
        split, parts = classes[name]
        label = parts[:1]
        if labelled and not label:
            problems.add("unlabelled", name, "Lies outside the class folders, so it has no label.")
        rows.append(ImageRow(name, name, None, split, label))
    return rows


def _classes_named_like_splits(images: Sequence[str]) -> set[tuple[str, ...]]:
    """Folders like "train" that stand beside bus/ and car/, alone of their kind: classes, not splits."""
    inside: dict[tuple[str, ...], set[str]] = {}
    for folder in {name.rpartition("/")[0] for name in images}:
        parts = tuple(folder.split("/"))
        for depth, part in enumerate(parts):
            inside.setdefault(parts[:depth], set()).add(part)
    found = set()
    for parent, children in inside.items():
        splits = [child for child in children if is_split(child)]
        # A split holds the class folders; a class of that name holds images, as the others beside it do.
        if len(splits) == 1 and len(children) >= 3 and not inside.get((*parent, splits[0])):
            found.add((*parent, splits[0]))
    return found


def _places(folders: tuple[str, ...], named_so: Set[tuple[str, ...]]) -> tuple[str, tuple[str, ...]]:
    """(split, the other folders that may be classes)."""
    at = next((at for at, part in enumerate(folders) if is_split(part) and folders[: at + 1] not in named_so), None)
    split = folders[at] if at is not None else ""
    rest = list(folders)
    if at is not None:
        del rest[at]
    while rest and rest[-1].lower() in _GENERIC:
        rest.pop()
    return split, tuple(rest)


def _common(paths: Sequence[tuple[str, ...]]) -> int:
    """How many leading folders all images share: those are no classes."""
    if not paths:
        return 0
    count = 0
    for level in zip(*paths, strict=False):
        if len(set(level)) > 1:
            break
        count += 1
    return count


def _about_empty(
    rows: Sequence[ImageRow], classes: Sequence[str], folders: Sequence[str], problems: ProblemList
) -> None:
    splits = list(dict.fromkeys(row.split for row in rows if row.split))
    present = Counter((row.split, row.labels[0]) for row in rows if row.labels)
    for split in splits:
        for name in classes:
            if not present[split, name]:
                problems.add("empty class", split, f"The class {name!r} has no image in {split!r}.")
    if not classes:
        return
    filled = {row.name.rpartition("/")[0] for row in rows if row.labels}
    beside = {PurePosixPath(folder).parts[:-1] for folder in filled}
    used = {parent for folder in filled for parent in (PurePosixPath(folder), *PurePosixPath(folder).parents)}
    for folder in folders:
        path = PurePosixPath(folder)
        if path not in used and path.parts[:-1] in beside and not is_split(path.name):
            problems.add("empty class", folder, f"The class folder {path.name!r} holds no image.")


READER = ImageFolderReader()
