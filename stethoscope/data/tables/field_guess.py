"""What an array or column is most likely: its role by its name, its kind by its shape, numbers and name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data.dataset import FieldKind, Role

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
