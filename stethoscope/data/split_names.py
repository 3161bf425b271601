"""Which part of a divided data set a file belongs to, by the names of its folders."""

from __future__ import annotations

import functools
import re

_SPLIT = re.compile(
    r"(train|training|trn|val|valid|validation|dev|test|testing|eval|holdout)(?:[-_]?(?:set|data|\d{4}))?", re.I
)
_IN_STEM = re.compile(
    r"(?:^|[^a-z])(train|training|val|valid|validation|test|testing|dev|eval)(\d{4})?(?:$|[^a-z])", re.I
)


@functools.lru_cache(4_096)
def is_split(word: str) -> bool:
    """Whether a folder's name is that of a split: train, val2017, test_set …"""
    return _SPLIT.fullmatch(word) is not None


def split_of(name: str) -> str:
    """The split in a member's folders ("data/train/cat/1.jpg" → "train"); "" where none is named."""
    return next((part for part in name.split("/")[:-1] if is_split(part)), "")


def split_in_stem(name: str) -> str:
    """The split in a file's own name ("instances_val2017.json" → "val2017"), else in its folders."""
    last = name.rpartition("/")[2]
    found = _IN_STEM.search(last.rpartition(".")[0] or last)
    return found[1] + (found[2] or "") if found else split_of(name)
