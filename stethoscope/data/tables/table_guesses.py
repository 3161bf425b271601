"""How a table of text is written: encoding, delimiter, header, decimal mark, found in its first bytes; and what a column most likely is.

What an array or column is most likely: its role by its name, its kind by its shape, numbers and name.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data import dataset
from stethoscope.data.dataset import FieldKind, Role
from stethoscope.errors import BadSetting, TooLarge, UnreadableFile

DELIMITERS = {"\t": "tab", ";": "semicolon", "|": "bar", ",": "comma"}
"""In the order in which they are preferred where they cut equally well."""
MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "none", "?", "-", "#N/A", "<NA>", "NaT")
NUMBER = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*|\s*[+-]?(?:inf|infinity)\s*", re.I)
_COMMA_NUMBER = re.compile(r"\s*[+-]?(?:\d{1,3}(?:\.\d{3})+|\d+),\d+\s*")
_POINT_NUMBER = re.compile(r"\s*[+-]?\d+\.\d+\s*")
_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_ROWS = 200
_LIMIT = 1 << 20


@dataclass(frozen=True)
class Dialect:
    """How one file of a table is written."""

    encoding: str
    delimiter: str
    names: tuple[str, ...]
    """Of the columns, each once."""
    skip_rows: int
    """Lines before the first row: comments and the header."""
    decimal: str = "."
    multiline: bool = False
    """Whether there are quotes, so that a cell may go over several lines."""


def dialect_of(subject: str, head: bytes, options: Mapping[str, Any], *, whole: bool) -> Dialect:
    """Reads how a file is written off its first bytes.

    Args:
        subject: for error texts.
        head: the first bytes.
        options: {"delimiter", "header" (bool), "encoding"}, all optional.
        whole: whether `head` is all of it.

    Raises:
        UnreadableFile: it is no text, or has no rows.
        TooLarge: more than `bounds.MAX_COLUMNS` columns.
        BadSetting: an option that makes no sense.
    """
    encoding = str(options.get("encoding") or "") or encoding_of(subject, head, whole=whole)
    text = _decoded(head, encoding)
    skipped, body = _without_comments(text)
    delimiter = str(options.get("delimiter") or "") or delimiter_of(body, whole=whole) or ","
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise BadSetting(f"Delimiter {delimiter[:10]!r}: expected a single character, for example ';'.")
    rows = first_rows(body, delimiter, whole=whole)
    if not rows:
        raise UnreadableFile(f"{subject}: expected a table of text, got no rows. Save it again with a header line.")
    if len(rows[0]) > dataset.MAX_COLUMNS:
        raise TooLarge(f"{subject}: has {len(rows[0]):,} columns, expected at most {dataset.MAX_COLUMNS:,}.")
    said = options.get("header")
    header = has_header(rows) if said is None else bool(said)
    names = _each_once(rows[0] if header else [f"column {place + 1}" for place in range(_usual_width(rows))])
    return Dialect(encoding, delimiter, tuple(names), skipped + int(header), _decimal(rows[1:], delimiter), '"' in text)


def encoding_of(subject: str, head: bytes, *, whole: bool) -> str:
    """The encoding of text: by its mark, else UTF-8 where it is that, else Windows' Latin-1.

    Raises:
        UnreadableFile: it is no text.
    """
    for mark, name in _BOMS:
        if head.startswith(mark):
            return name
    if b"\x00" in head:
        pairs = head[: len(head) // 2 * 2]
        if pairs and pairs[1::2].count(0) > len(pairs) // 3:
            return "utf-16-le"
        if pairs and pairs[::2].count(0) > len(pairs) // 3:
            return "utf-16-be"
        raise UnreadableFile(f"{subject}: expected text, got binary content. Save it as UTF-8 text.")
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        if whole or error.start < len(head) - 4:
            return "cp1252"
    return "utf-8"


def delimiter_of(text: str, *, whole: bool) -> str:
    """The character that cuts every line into equally many cells, at least two; "" where none does."""
    best, found = (0.0, 0), ""
    for delimiter in DELIMITERS:
        rows = first_rows(text, delimiter, whole=whole)
        widths = Counter(len(row) for row in rows)
        if not widths:
            continue
        width, often = widths.most_common(1)[0]
        share = often / len(rows)
        if width > 1 and share >= 0.6 and (round(share, 1), width) > best:
            best, found = (round(share, 1), width), delimiter
    return found


def first_rows(text: str, delimiter: str, *, whole: bool) -> list[list[str]]:
    """The first rows that are whole, empty lines left out."""
    rows: list[list[str]] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        for row in reader:
            if row:
                rows.append(row)
            if len(rows) > _ROWS:
                return rows
    except csv.Error:
        return rows
    return rows if whole or len(rows) < 2 else rows[:-1]


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns: text above numbers, or different words and no number at all."""
    first, rest = rows[0], rows[1:]
    cells = [cell.strip() for cell in first]
    for place, cell in enumerate(cells):
        below = [row[place] for row in rest if place < len(row) and row[place].strip() not in MISSING]
        if cell and not _number(cell) and below and sum(map(_number, below)) > 0.8 * len(below):
            return True
    if any(_number(cell) for cell in cells) or len(set(cells)) < len(cells) or not rest:
        return not rest and len(set(cells)) == len(cells) and not any(_number(cell) for cell in cells)
    # Text over text: a header is not a value that comes again.
    return not any(
        cell in {row[place].strip() for row in rest if place < len(row)} for place, cell in enumerate(cells)
    ) and all(len(cell) <= 64 for cell in cells)


def _number(cell: str) -> bool:
    return NUMBER.fullmatch(cell) is not None or _COMMA_NUMBER.fullmatch(cell) is not None


def _decimal(rows: Sequence[Sequence[str]], delimiter: str) -> str:
    if delimiter == ",":
        return "."
    cells = [cell for row in rows for cell in row]
    commas = sum(_COMMA_NUMBER.fullmatch(cell) is not None for cell in cells)
    return "," if commas > sum(_POINT_NUMBER.fullmatch(cell) is not None for cell in cells) else "."


def _without_comments(text: str) -> tuple[int, str]:
    lines, skipped = text.splitlines(keepends=True), 0
    while skipped < len(lines) and (lines[skipped].startswith("#") or not lines[skipped].strip()):
        skipped += 1
    # pyarrow does not count empty lines as rows.
    counted = sum(bool(line.strip()) for line in lines[:skipped])
    return counted, "".join(lines[skipped:])


def _usual_width(rows: Sequence[Sequence[str]]) -> int:
    return Counter(len(row) for row in rows).most_common(1)[0][0]


def _each_once(names: Sequence[str]) -> list[str]:
    made: list[str] = []
    seen: set[str] = set()
    for place, given in enumerate(names):
        name = given.strip() or f"column {place + 1}"
        number, once = 1, name
        while once in seen:
            number += 1
            once = f"{name} ({number})"
        seen.add(once)
        made.append(once)
    return made


def _decoded(head: bytes, encoding: str) -> str:
    try:
        return head[:_LIMIT].decode(encoding, errors="replace").replace("\x00", "")
    except LookupError as error:
        raise BadSetting(f"Encoding {encoding[:40]!r}: no such encoding. Try utf-8 or cp1252.") from error


_TARGET = re.compile(r"(?:y|y_.+|y\d+|targets?|labels?|class(?:es)?|outputs?|.+_(?:labels?|target|class)|labels?_.+)")
_SPLIT = ("split", "subset", "partition", "fold")
_ASIDE = ("sample_weight", "sample_weights", "weights", "class_weight", "class_names", "label_names", "index")
_TOKEN_WORDS = re.compile(r"(?:.*[_-])?(?:ids?|tokens?|words?|segments?|token_type_ids|attention_mask|mask|sequences?)")
_SEQUENCE_WORDS = re.compile(r".*(?:signal|series|ecg|eeg|wave|audio|sound|speech|sensor|time|sequence|spectro|mel).*")
_IMAGE_WORDS = re.compile(r".*(?:image|img|picture|photo|pixel|frame).*")
_MASK_WORDS = re.compile(
    r"(?:y_?)?(?:masks?|seg(?:mentations?)?|segmentation_masks?|(?!.*attention).+_(?:masks?|segmentation))"
)
_FEW_CLASSES = 50
_VOCABULARY = 100
"""A whole number of at least this in a row of whole numbers: more likely words of a vocabulary than counts."""
_LEAST_SIDE, _SURE_SIDE, _LEAST_SEQUENCE = 4, 32, 2


def role_of(name: str) -> Role:
    """The role that an array's name tells."""
    plain = name.strip().lower()
    if plain in _SPLIT:
        return "split"
    if plain in _ASIDE:
        return "other"
    return "target" if _TARGET.fullmatch(plain) else "input"


def kind_of(name: str, row_shape: Sequence[int], first_rows: npt.NDArray[Any], role: Role) -> FieldKind:
    """The kind of an array with rows of `row_shape`, from its first rows (rows, *row_shape)."""
    shape, letter, plain = tuple(row_shape), first_rows.dtype.kind, name.strip().lower()
    plane = len(shape) == 2 or (len(shape) == 3 and shape[-1] == 1)
    if _MASK_WORDS.fullmatch(plain) and letter in "iub" and plane and min(shape[:2]) >= _LEAST_SIDE:
        return "mask"
    if letter in "US":
        if shape not in ((), (1,)):
            return "array"
        return "category" if role == "target" or _repeats(first_rows) else "text"
    if letter == "b" and shape in ((), (1,)):
        return "category"
    if letter == "c":
        return "array"
    if shape in ((), (1,)):
        return "category" if role == "target" and is_classes(first_rows) else "number"
    if len(shape) == 1:
        return _row_of_numbers(plain, shape[0], first_rows, role)
    if len(shape) == 2:
        return _plane(plain, shape, first_rows, role)
    if len(shape) == 3:
        if role == "target" and letter in "iub" and shape[-1] == 1:
            return "mask"
        if channels_first(shape) or (shape[-1] in (1, 3, 4) and min(shape[:2]) >= _LEAST_SIDE):
            return "image"
    return "array"


def is_classes(values: npt.NDArray[Any]) -> bool:
    """Whether numbers look like class numbers: whole, from 0 up, few different ones."""
    if values.size == 0:
        return values.dtype.kind in "iub"
    if values.dtype.kind == "f":
        finite = values[np.isfinite(values)]
        if finite.size == 0 or not bool((finite == np.floor(finite)).all()):
            return False
        different = np.unique(finite)
        return bool(different[0] >= 0) and len(different) <= min(_FEW_CLASSES, max(2, values.size // 4))
    if values.dtype.kind == "b":
        return True
    different = np.unique(values)
    # Ages, years and counts are whole numbers too: classes are numbered without large gaps.
    return bool(different[0] >= -1) and int(different[-1]) < max(_FEW_CLASSES, 4 * len(different))


def is_one_hot(rows: npt.NDArray[Any]) -> bool:
    """Whether each row (rows, classes) has a single 1 among zeros."""
    if rows.ndim != 2 or rows.shape[1] < 2 or rows.shape[0] == 0 or rows.dtype.kind not in "biuf":
        return False
    return bool(((rows == 0) | (rows == 1)).all() and (rows.astype(np.float64).sum(axis=1) == 1).all())


def channels_first(shape: Sequence[int]) -> bool:
    """Whether the shape of one image has its channels before height and width."""
    return len(shape) == 3 and shape[0] in (1, 3, 4) and shape[2] not in (1, 3, 4) and min(shape[1:]) >= _LEAST_SIDE


def _row_of_numbers(name: str, length: int, rows: npt.NDArray[Any], role: Role) -> FieldKind:
    if role == "input" and rows.dtype.kind in "iu" and rows.size:
        lowest, highest = int(rows.min()), int(rows.max())
        wide = rows.dtype.itemsize >= 2
        if lowest >= 0 and wide and (_TOKEN_WORDS.fullmatch(name) or highest >= _VOCABULARY):
            return "tokens"
    if role == "input" and length >= _LEAST_SEQUENCE and _SEQUENCE_WORDS.fullmatch(name) and rows.dtype.kind == "f":
        return "sequence"
    return "array"


def _plane(name: str, shape: tuple[int, ...], rows: npt.NDArray[Any], role: Role) -> FieldKind:
    height, width = shape
    if min(shape) < _LEAST_SIDE:
        return "sequence"
    square = height == width and height >= _LEAST_SIDE
    large = min(shape) >= _SURE_SIDE and max(shape) <= 2 * min(shape)
    pictured = rows.dtype == np.uint8 or bool(_IMAGE_WORDS.fullmatch(name)) or square or large
    if role == "target" and rows.dtype.kind in "iub":
        return "mask" if pictured else "array"
    if _SEQUENCE_WORDS.fullmatch(name) and rows.dtype != np.uint8:
        return "sequence"
    return "image" if pictured else "sequence"


def _repeats(values: npt.NDArray[Any]) -> bool:
    count = int(values.size)
    different = len(np.unique(values)) if count else 0
    return 0 < different <= min(_FEW_CLASSES, max(2, count // 3))
